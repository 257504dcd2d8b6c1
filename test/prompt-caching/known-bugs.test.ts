import type { JsonObject } from '../../src/lib/json.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { openGateway } from '../formats/cases/support.ts'
import { json } from '../pipeline/support/upstream.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { listMarks } from './support/breakpoints.ts'
import { clientWriters, createConversation, listRequestEnds } from './support/conversations.ts'
import { simulatedProviders } from './support/simulated-providers.ts'

const test = suite('prompt caching: known bugs in other gateways')

const mark = { cache_control: { type: 'ephemeral' } }

/** Sends a client's requests to a simulated provider, one per second. Returns the bodies that it received, and the usage that it counted. */
async function send(
  name: string,
  path: string,
  bodies: readonly JsonObject[],
  { headers = {}, promptCaching = 'off' }: { headers?: Record<string, string>; promptCaching?: 'auto' | 'off' } = {},
) {
  const provider = simulatedProviders[name]
  assert.ok(provider)
  const { model, connection = { provider: model.split('/')[0] ?? '' }, catalog = defaultCatalog } = provider
  const simulator = provider.createSimulator()
  const reads: number[] = []
  const { upstream, world } = await openGateway(
    ({ body }, index) => {
      const usage = simulator({ body: JSON.parse(body), now: index * 1_000 })
      reads.push(usage.read)
      return json(provider.respond(usage))
    },
    { catalog, connections: [connection] },
  )
  await world.api.settings.update({ promptCaching })
  for (const body of bodies) {
    const response = await world.post(path, { ...body, model }, { headers })
    assert.is(response.status, 200, await response.clone().text())
  }
  return { texts: upstream.calls.map(({ body }) => body), calls: upstream.calls, reads }
}

const steps = createConversation(createRandom(5), 12, { isAgent: true, hasReasoning: true })
const write = clientWriters['anthropic-messages']
const agent = listRequestEnds(steps).map((end): JsonObject => {
  const { model: _, ...body } = write(steps.slice(0, end))
  return body
})

const search = { name: 'search', input_schema: { type: 'object' } }
const call = (id: string) => ({ type: 'tool_use', id, name: 'search', input: {} })
const result = (id: string, extra: JsonObject = {}) => ({
  ...{ type: 'tool_result', tool_use_id: id, content: `result of ${id}` },
  ...extra,
})
const user = (...content: JsonObject[]) => ({ role: 'user', content })
const assistant = (...content: JsonObject[]) => ({ role: 'assistant', content })

for (const name of ['Claude at Anthropic', 'Claude on Vertex AI', 'Claude on Bedrock'])
  test(`llmgateway #3114: a breakpoint on a tool result stays there, and other results take no slot (${name})`, async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `t${index}`)
    const messages = [
      user({ type: 'text', text: 'Go.', ...mark }),
      ...ids.flatMap((id) => [assistant(call(id)), user(result(id, id === 't2' || id === 't6' ? mark : {}))]),
    ]
    const body = { max_tokens: 9, tools: [{ ...search, ...mark }], messages }
    const { texts } = await send(name, '/v1/messages', [body])
    assert.equal(
      listMarks(JSON.parse(texts[0] ?? '')).map(({ text }) => text),
      ['search', 'Go.', 't2', 't6'],
    )
  })

test('llmgateway #3114: a turn with only tool results gets a breakpoint at its end', async () => {
  const messages = [user({ type: 'text', text: 'Go. '.repeat(5_000) }), assistant(call('t1')), user(result('t1'))]
  for (const name of ['Claude on Vertex AI', 'Claude on Bedrock']) {
    const body = { max_tokens: 9, tools: [search], messages }
    const { texts } = await send(name, '/v1/messages', [body], { promptCaching: 'auto' })
    assert.is(listMarks(JSON.parse(texts[0] ?? '')).at(-1)?.text, 't1')
  }
})

for (const [location, marked] of Object.entries({
  'the message': { content: 'result of t1', ...mark },
  'its last part': { content: [{ type: 'text', text: 'result of t1', ...mark }] },
}))
  test(`llmgateway #3114: the breakpoint of a tool message in Chat Completions is on its result, from ${location}`, async () => {
    const called = { id: 't1', type: 'function', function: { name: 'search', arguments: '{}' } }
    const messages = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: 't1', ...marked },
    ]
    const tools = [{ type: 'function', function: { name: 'search', parameters: { type: 'object' } } }]
    const { texts } = await send('Claude at Anthropic', '/v1/chat/completions', [{ tools, messages }])
    assert.is(listMarks(JSON.parse(texts[0] ?? '')).length, 1)
    assert.match(texts[0] ?? '', /"tool_use_id":"t1"/)
  })

test('Bifrost #6181: a fallback gets breakpoints only if it supports them', async () => {
  const models = ['anthropic/claude-sonnet-4-5', 'groq/llama-3.3-70b-versatile', 'anthropic/claude-haiku-4-5']
  const { upstream, world } = await openGateway(() => new Response('{}', { status: 503 }), {
    catalog: defaultCatalog,
    connections: ['anthropic', 'groq'],
    combos: { all: { models } },
  })
  await world.api.settings.update({ promptCaching: 'auto' })
  const body = clientWriters['openai-chat'](steps.slice(0, listRequestEnds(steps)[3]))
  await world.chat({ ...body, model: 'all' })
  const hasBreakpoints = upstream.calls.map(({ url, body: sent }) => [
    new URL(url).host,
    /cache_control|prompt_cache/.test(sent),
  ])
  assert.equal(hasBreakpoints, [
    ['api.anthropic.com', true],
    ['api.groq.com', false],
    ['api.anthropic.com', true],
  ])
})

for (const promptCaching of ['off', 'auto'] as const)
  test(`OmniRoute #1762: Claude Code's requests reach Anthropic with the same body and beta header (${promptCaching})`, async () => {
    const bodies = agent.map(({ messages, ...body }, index) => ({
      ...body,
      system: [
        {
          type: 'text',
          text: `x-anthropic-billing-header: cc_version=2.1.81.df2; cc_entrypoint=cli; cch=${index}f00;`,
        },
        { type: 'text', text: 'You are Claude Code.', ...mark },
      ],
      messages,
    }))
    const headers = { 'anthropic-beta': 'claude-code-20250219', 'anthropic-version': '2023-06-01' }
    const { calls } = await send('Claude at Anthropic', '/v1/messages', bodies, { headers, promptCaching })
    for (const [index, { body, headers: sent }] of calls.entries()) {
      assert.is(body, JSON.stringify({ ...bodies[index], model: 'claude-sonnet-5-5' }))
      assert.is(sent.get('anthropic-beta'), 'claude-code-20250219')
    }
  })

test('new-api #3389: a passthrough request stays byte-identical, and each request begins with the previous one', async () => {
  const pretty = agent.map((body) => {
    const { messages, tools, system, ...others } = body
    return JSON.stringify({
      tools,
      ...others,
      model: 'anthropic/claude-sonnet-5-5',
      system,
      new_field: [1.0],
      messages,
    })
      .replace('[1]', '[ 1.0 ]')
      .replaceAll('é', '\\u00e9')
  })
  const { upstream, world } = await openGateway(
    () => json(simulatedProviders['Claude at Anthropic']?.respond(NOTHING) ?? {}),
    {
      catalog: defaultCatalog,
      connections: ['anthropic'],
    },
  )
  for (const text of pretty) assert.is((await world.post('/v1/messages', text)).status, 200)
  assert.equal(
    upstream.calls.map(({ body }) => body),
    pretty.map((text) => text.replace('anthropic/', '')),
  )
  for (const [index, { body }] of upstream.calls.entries()) {
    const before = upstream.calls[index - 1]?.body
    if (before) assert.is(body.slice(0, before.length - 2), before.slice(0, -2))
  }
})

const NOTHING = { input: 1, read: 0, written: 0 }

/** Marks the instructions and the last block of the conversation, like clients that move their breakpoint forward. */
const markEnds = (body: JsonObject): JsonObject => {
  const messages = structuredClone(body.messages) as Array<{ content: JsonObject[] }>
  Object.assign(messages.at(-1)?.content.at(-1) ?? {}, mark)
  return { ...body, system: [{ type: 'text', text: body.system, ...mark }], messages }
}

for (const name of ['Claude at Anthropic', 'Claude on Vertex AI', 'Claude on Bedrock'])
  for (const promptCaching of ['off', 'auto'] as const)
    test(`axonhub #2342: a client's breakpoints stay on their blocks, and every turn hits the cache (${name}, ${promptCaching})`, async () => {
      const bodies = agent.map(markEnds)
      const { texts, reads } = await send(name, '/v1/messages', bodies, { promptCaching })
      for (const [index, text] of texts.entries()) {
        const sent: JsonObject & { messages: object[] } = JSON.parse(text)
        assert.equal(
          listMarks(sent).map(({ place }) => place),
          ['system', 'messages'],
        )
        assert.match(JSON.stringify(sent.messages.at(-1)), /"cache_control"|"cachePoint"/, `request ${index}`)
      }
      assert.ok(
        reads.slice(1).every((read) => read > 4_000),
        `${reads}`,
      )
    })
