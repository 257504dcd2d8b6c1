import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses } from './responses.ts'
import { getFormat, providerOf, send } from './support.ts'

const test = suite('cases: tools that run at one vendor')

const schema = { type: 'object', properties: {} }

/** Returns each client's declaration of its own function. */
const functionOf: Record<WireFormat, (name: string) => JsonObject> = {
  'openai-chat': (name) => ({ type: 'function', function: { name, parameters: schema } }),
  'openai-responses': (name) => ({ type: 'function', name, parameters: schema, strict: false }),
  'anthropic-messages': (name) => ({ name, input_schema: schema }),
  gemini: (name) => ({ functionDeclarations: [{ name, parametersJsonSchema: schema }] }),
}

/** Tools without an equivalent in other formats, as each client sends them. */
const vendorTools: Record<WireFormat, JsonObject[]> = {
  'openai-chat': [{ type: 'openrouter:web_search' }],
  'openai-responses': [
    { type: 'code_interpreter', container: { type: 'auto' } },
    { type: 'image_generation' },
    { type: 'file_search', vector_store_ids: ['vs_1'] },
    { type: 'mcp', server_label: 's', server_url: 'https://mcp.example' },
  ],
  'anthropic-messages': [
    { type: 'code_execution_20250825', name: 'code_execution' },
    { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 2 },
  ],
  gemini: [{ codeExecution: {} }, { urlContext: {} }],
}

/** The web search tool of each client that has one. */
const searches: Partial<Record<WireFormat, JsonObject[]>> = {
  'openai-responses': [{ type: 'web_search', external_web_access: false }, { type: 'web_search_preview' }],
  'anthropic-messages': [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }],
  gemini: [{ googleSearch: {} }],
}

const getName = ({ type, name, ...tool }: JsonObject): string => String(name ?? type ?? Object.keys(tool)[0])

/** Returns the names of the tools that a provider received. */
function getNames(sent: JsonObject): string[] {
  const { tools = [] }: { tools?: Record<string, never>[] } = JSON.parse(JSON.stringify(sent))
  return tools.flatMap(({ functionDeclarations, function: chat, ...tool }) =>
    ((functionDeclarations ?? [chat ?? tool]) as JsonObject[]).map(getName),
  )
}

const respondAs = (model: string) => () => json(fullResponses[getFormat(model)])

const getMessage = async (response: Response): Promise<string> => {
  const { error } = await response.json()
  return error.message
}

const pairs = wireFormats.flatMap((client) =>
  wireFormats.filter((target) => target !== client).map((target) => [client, target] as const),
)
for (const [client, target] of pairs) {
  const model = `${providerOf[target]}/m`
  const f = functionOf[client]

  for (const tool of vendorTools[client]) {
    test(`${getName(tool)} next to functions is dropped with a warning, from ${client} to ${target}`, async () => {
      const tools = [...Array.from({ length: 8 }, (_, index) => f(`f${index}`)), tool, f('g')]
      const { response, sent, warned } = await send({ client, model, body: { tools }, respond: respondAs(model) })
      assert.equal([response.status, warned], [200, ['dropped:tools[8]']])
      assert.equal(getNames(sent), ['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7', 'g'])
    })

    test(`${getName(tool)} as the only tool, or in strict mode, returns a 400, from ${client} to ${target}`, async () => {
      const alone = await send({ client, model, body: { tools: [tool] }, respond: respondAs(model) })
      assert.equal([alone.response.status, alone.upstream.calls.length], [400, 0])
      const message = await getMessage(alone.response)
      assert.ok(message.includes('tools[0]') && message.includes(getName(tool)), message)

      const headers = { 'x-signalbox-strict': 'true' }
      const strict = await send({ client, model, body: { tools: [f('f'), tool] }, headers, respond: respondAs(model) })
      assert.equal([strict.response.status, strict.upstream.calls.length], [400, 0])
      const refusal = await getMessage(strict.response)
      assert.ok(refusal.includes('tools[1]') && refusal.includes(getName(tool)), refusal)
    })
  }
}

for (const client of wireFormats) {
  const model = 'chat/m'
  for (const tool of searches[client] ?? []) {
    test(`a target that can't search drops ${getName(tool)}, or rejects it if there are no functions (${client} client)`, async () => {
      const f = functionOf[client]('f')
      const { response, sent, warned } = await send({
        client,
        model,
        body: { tools: [f, tool] },
        respond: respondAs(model),
      })
      assert.equal([response.status, getNames(sent)], [200, ['f']])
      assert.ok(warned.includes('dropped:tools[1]'), warned.join())
      const alone = await send({ client, model, body: { tools: [tool] }, respond: respondAs(model) })
      assert.equal([alone.response.status, alone.upstream.calls.length], [400, 0])
      const message = await getMessage(alone.response)
      assert.ok(message.includes('tools[0]') && message.includes(getName(tool)), message)
    })
  }
}

test("a target that can't search drops web_search_options, or rejects it if there are no functions (openai-chat client)", async () => {
  const client = 'openai-chat'
  const model = 'messages/m'
  const search = { web_search_options: {} }
  const tools = [functionOf[client]('f')]
  const { response, warned } = await send({ client, model, body: { ...search, tools }, respond: respondAs(model) })
  assert.equal([response.status, warned], [200, ['dropped:web_search_options']])
  const alone = await send({ client, model, body: search, respond: respondAs(model) })
  assert.equal([alone.response.status, alone.upstream.calls.length], [400, 0])
})

test("Codex's default tools work with a target that can't search", async () => {
  const client = 'openai-responses'
  const tools = [
    functionOf[client]('exec_command'),
    { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
    { type: 'web_search', external_web_access: false },
  ]
  const body = { tools, tool_choice: 'auto', parallel_tool_calls: false }
  const { response, sent, warned } = await send({ client, model: 'chat/m', body, respond: respondAs('chat/m') })
  assert.is(response.status, 200)
  assert.equal(getNames(sent), ['exec_command', 'apply_patch'])
  assert.ok(warned.includes('dropped:tools[2]'), warned.join())
})

/** A tool that runs at one vendor, forced alongside a function. */
const forced: Record<string, [client: WireFormat, body: JsonObject]> = {
  'a web search in a Responses request': [
    'openai-responses',
    { tools: [functionOf['openai-responses']('f'), { type: 'web_search' }], tool_choice: { type: 'web_search' } },
  ],
  'a vendor’s tool in a Responses request': [
    'openai-responses',
    {
      tools: [functionOf['openai-responses']('f'), { type: 'image_generation' }],
      tool_choice: { type: 'image_generation' },
    },
  ],
  'one of the allowed tools in a Responses request': [
    'openai-responses',
    {
      tools: [functionOf['openai-responses']('f'), { type: 'image_generation' }],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'image_generation' }] },
    },
  ],
  'a web search in a Messages request': [
    'anthropic-messages',
    {
      tools: [functionOf['anthropic-messages']('f'), { type: 'web_search_20250305', name: 'web_search' }],
      tool_choice: { type: 'tool', name: 'web_search' },
    },
  ],
  'a vendor’s tool in a Messages request': [
    'anthropic-messages',
    {
      tools: [functionOf['anthropic-messages']('f'), { type: 'code_execution_20250825', name: 'code_execution' }],
      tool_choice: { type: 'tool', name: 'code_execution' },
    },
  ],
}

for (const [label, [client, body]] of Object.entries(forced))
  test(`forcing ${label} returns a 400 for a target that doesn't support it`, async () => {
    const { response, upstream } = await send({ client, model: 'chat/m', body, respond: respondAs('chat/m') })
    assert.equal([response.status, upstream.calls.length], [400, 0])
  })

test('a tool that the tool choice disables is dropped without a warning', async () => {
  const client = 'openai-responses'
  const body = { tools: [{ type: 'web_search' }, { type: 'image_generation' }], tool_choice: 'none' }
  const { response, sent, warned } = await send({ client, model: 'chat/m', body, respond: respondAs('chat/m') })
  assert.equal([response.status, getNames(sent), warned], [200, [], []])
})

test('a vendor tool among several allowed tools is dropped with a warning', async () => {
  const client = 'openai-responses'
  const tools = [functionOf[client]('f'), functionOf[client]('g'), { type: 'image_generation' }]
  const allowed = [{ type: 'function', name: 'f' }, { type: 'image_generation' }]
  const body = { tools, tool_choice: { type: 'allowed_tools', mode: 'required', tools: allowed } }
  const { response, warned } = await send({ client, model: 'chat/m', body, respond: respondAs('chat/m') })
  assert.is(response.status, 200)
  assert.equal(warned.toSorted(), ['dropped:tool_choice.tools[1]', 'dropped:tools[2]'])
})

test('a request fails with a 400 if the target supports none of its tools', async () => {
  const body = { tools: [{ type: 'web_search' }, { type: 'image_generation' }] }
  const { response } = await send({ client: 'openai-responses', model: 'chat/m', body, respond: respondAs('chat/m') })
  assert.is(response.status, 400)
})

test('a search in the same tools entry as functions is dropped with a warning', async () => {
  const entry = { ...functionOf.gemini('f'), googleSearch: {}, codeExecution: {} }
  const { response, sent, warned } = await send({
    client: 'gemini',
    model: 'chat/m',
    body: { tools: [entry] },
    respond: respondAs('chat/m'),
  })
  assert.equal([response.status, getNames(sent)], [200, ['f']])
  assert.equal(warned.toSorted(), ['dropped:tools[0].codeExecution', 'dropped:tools[0].googleSearch'])
})

test("a forced search becomes an automatic choice if the target can't be forced to search", async () => {
  const client = 'anthropic-messages'
  const body = {
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    tool_choice: { type: 'tool', name: 'web_search' },
  }
  const { response, sent, warned } = await send({ client, model: 'gemini/m', body, respond: respondAs('gemini/m') })
  assert.equal([response.status, sent.tools, sent.toolConfig], [200, [{ googleSearch: {} }], undefined])
  assert.equal(warned, ['replaced:tool_choice'])
})

/** Each client's invalid tools, and the error, which names the location and the tool. */
const malformed: Record<WireFormat, [tool: JsonObject, place: string]> = {
  'openai-chat': [{ type: 'function', function: { name: 'look', parameters: 1 } }, 'tools[1].function.parameters'],
  'openai-responses': [{ type: 'function', name: 'look', parameters: 1 }, 'tools[1].parameters'],
  'anthropic-messages': [{ name: 'look', input_schema: 1 }, 'tools[1].input_schema'],
  gemini: [
    { functionDeclarations: [{ name: 'look', parametersJsonSchema: 1 }] },
    'tools[1].functionDeclarations[0].parametersJsonSchema',
  ],
}

for (const client of wireFormats)
  test(`the error for a malformed tool contains its path and name (${client} client)`, async () => {
    const model = client === 'openai-chat' ? 'messages/m' : 'chat/m'
    const [tool, location] = malformed[client]
    const body = { tools: [functionOf[client]('f'), tool] }
    const { response } = await send({ client, model, body, respond: respondAs(model) })
    assert.is(response.status, 400)
    assert.is(await getMessage(response), `"${location}": tool "look": must be an object.`)
  })
