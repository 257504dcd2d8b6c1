import OpenAI from 'openai'
import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { block, fullResponses, geminiChunk, messageEnd, messageStart, responseEnd } from './responses.ts'
import { delta, getStream, openGateway, providerOf, send } from './support.ts'

const test = suite('cases: tools that a vendor defines and clients run')

/** A response with a function call in each provider format, complete and streamed. */
const calling: Readonly<Record<WireFormat, (name: string, args: string, stream: boolean) => Response>> = {
  'openai-chat'(name, args, stream) {
    const call = { id: 'call_1', type: 'function', function: { name, arguments: args } }
    if (!stream)
      return json({
        ...fullResponses['openai-chat'],
        choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', tool_calls: [call] } }],
      })
    const half = Math.ceil(args.length / 2)
    const piece = (text: string) => ({ function: { arguments: text } })
    return getStream('openai-chat', [
      delta({ role: 'assistant', tool_calls: [{ index: 0, ...call, function: { name, arguments: '' } }] }),
      delta({ tool_calls: [{ index: 0, ...piece(args.slice(0, half)) }] }),
      delta({ tool_calls: [{ index: 0, ...piece(args.slice(half)) }] }),
      delta({}, 'tool_calls'),
      '[DONE]',
    ])
  },
  'openai-responses'(name, args, stream) {
    const output = [{ type: 'function_call', id: 'fc_1', call_id: 'call_1', name, arguments: args }]
    return stream
      ? getStream('openai-responses', [responseEnd(output)])
      : json({ ...fullResponses['openai-responses'], output })
  },
  'anthropic-messages'(name, args, stream) {
    const use = { type: 'tool_use', id: 'call_1', name }
    if (!stream)
      return json({
        ...fullResponses['anthropic-messages'],
        ...{ content: [{ ...use, input: JSON.parse(args) }], stop_reason: 'tool_use' },
      })
    return getStream('anthropic-messages', [
      messageStart(),
      ...block(0, { ...use, input: {} }, { type: 'input_json_delta', partial_json: args }),
      ...messageEnd('tool_use'),
    ])
  },
  gemini(name, args, stream) {
    const chunk = geminiChunk([{ functionCall: { id: 'call_1', name, args: JSON.parse(args) } }], 'STOP')
    return stream ? getStream('gemini', [chunk]) : json(chunk)
  },
}

interface Declared {
  name: string
  required: string[]
}

/** Returns the functions that a provider of each format receives. */
const declaredIn: Readonly<Record<WireFormat, (sent: JsonObject) => Declared[]>> = {
  'openai-chat': ({ tools }) =>
    getList(tools).map((tool) => {
      const { name, parameters } = tool.function as JsonObject
      return declared(name, parameters)
    }),
  'openai-responses': ({ tools }) => getList(tools).map(({ name, parameters }) => declared(name, parameters)),
  'anthropic-messages': ({ tools }) => getList(tools).map(({ name, input_schema }) => declared(name, input_schema)),
  gemini: ({ tools }) =>
    getList(getList(tools)[0]?.functionDeclarations).map(({ name, parametersJsonSchema }) =>
      declared(name, parametersJsonSchema),
    ),
}

const getList = (value: unknown) => (Array.isArray(value) ? value : []) as JsonObject[]
const declared = (name: unknown, schema: unknown): Declared => ({
  name: String(name),
  required: (schema as { required?: string[] }).required ?? [],
})

interface Case {
  tool: JsonObject
  name: string
  required: string[]
  args: JsonObject
  /** The call as an item, without IDs or a status. */
  item: JsonObject
  output: JsonObject
  /** Matches the part of the output that the model receives. */
  read: RegExp
}

const shellAction = { commands: ['ls -l', 'pwd'], timeout_ms: 1000, max_output_length: null }
const diff = '@@\n-a\n+b\n'

/** Tools of the Responses format. */
const cases: Record<string, Case> = {
  shell: {
    tool: { type: 'shell', environment: { type: 'local' } },
    ...{ name: 'shell', required: ['commands'], args: { commands: ['ls -l', 'pwd'], timeout_ms: 1000 } },
    item: { type: 'shell_call', action: shellAction, environment: { type: 'local' } },
    output: {
      type: 'shell_call_output',
      output: [
        { stdout: 'total 0', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
        { stdout: '', stderr: 'no such thing', outcome: { type: 'timeout' } },
      ],
    },
    read: /exit code: 0.*total 0.*timed out.*stderr:.*no such thing/,
  },
  'a shell without an environment': {
    tool: { type: 'shell' },
    ...{ name: 'shell', required: ['commands'], args: { command: 'ls' } },
    item: {
      type: 'shell_call',
      action: { commands: ['ls'], timeout_ms: null, max_output_length: null },
      environment: { type: 'local' },
    },
    output: {
      type: 'shell_call_output',
      output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 2 } }],
    },
    read: /exit code: 2.*a/,
  },
  local_shell: {
    tool: { type: 'local_shell' },
    ...{ name: 'local_shell', required: ['command'], args: { command: ['ls', '-l'], working_directory: '/src' } },
    item: {
      type: 'local_shell_call',
      action: { type: 'exec', command: ['ls', '-l'], env: {}, working_directory: '/src' },
    },
    output: { type: 'local_shell_call_output', output: '{"output":"total 0"}' },
    read: /total 0/,
  },
  'apply_patch with a change': {
    tool: { type: 'apply_patch' },
    ...{ name: 'apply_patch', required: ['type', 'path'], args: { type: 'update_file', path: 'a.txt', diff } },
    item: { type: 'apply_patch_call', operation: { type: 'update_file', path: 'a.txt', diff } },
    output: { type: 'apply_patch_call_output', status: 'failed', output: 'no such context' },
    read: /no such context/,
  },
  'apply_patch with a deletion': {
    tool: { type: 'apply_patch' },
    ...{ name: 'apply_patch', required: ['type', 'path'], args: { type: 'delete_file', path: 'a.txt' } },
    item: { type: 'apply_patch_call', operation: { type: 'delete_file', path: 'a.txt' } },
    output: { type: 'apply_patch_call_output', status: 'completed' },
    read: /Done\./,
  },
}

const input = [{ role: 'user' as const, content: 'go' }]
const client = 'openai-responses'

/** Returns the call and the result that a provider of a format receives: name, arguments, IDs, and text. */
const loopIn: Readonly<Record<Exclude<WireFormat, typeof client>, (sent: JsonObject) => unknown[]>> = {
  'openai-chat'({ messages }) {
    const [, turn, result] = getList(messages)
    const [call] = getList(turn?.tool_calls) as { id: string; function: { name: string; arguments: string } }[]
    return [call?.function.name, JSON.parse(call?.function.arguments ?? ''), call?.id === result?.tool_call_id, result]
  },
  'anthropic-messages'({ messages }) {
    const [, turn, results] = getList(messages)
    const [use] = getList(turn?.content)
    const [result] = getList(results?.content)
    return [use?.name, use?.input, use?.id === result?.tool_use_id, result]
  },
  gemini({ contents }) {
    const [, turn, results] = getList(contents)
    const call = getList(turn?.parts)[0]?.functionCall as JsonObject
    const response = getList(results?.parts)[0]?.functionResponse as JsonObject
    return [call.name, call.args, call.id === response.id, response]
  },
}

for (const [name, { tool, name: as, required, args, item, output, read }] of Object.entries(cases)) {
  for (const target of ['openai-chat', 'anthropic-messages', 'gemini'] as const) {
    for (const stream of [false, true]) {
      test(`${name} is sent as a function, and its call is returned as the tool's own item (${target}${stream ? ', streamed' : ''})`, async () => {
        const call = () => calling[target](as, JSON.stringify(args), stream)
        const { world, upstream } = await openGateway(
          () => (upstream.calls.length === 1 ? call() : json(fullResponses[target])),
          { connections: [providerOf[target]] },
        )
        const openai = new OpenAI({
          ...{ baseURL: 'http://gateway/v1', apiKey: 'k', maxRetries: 0 },
          fetch: (original, init) => world.gateway.fetch(new Request(original, init)),
        })
        const tools: OpenAI.Responses.Tool[] = JSON.parse(JSON.stringify([tool]))
        const body = { model: `${providerOf[target]}/m`, input, tools, store: false }
        const response = stream
          ? await openai.responses.stream(body).finalResponse()
          : await openai.responses.create(body)
        const items: JsonObject[] = JSON.parse(JSON.stringify(response.output))
        assert.is(items.length, 1)
        const { id, call_id, status, ...rest } = items[0] as JsonObject
        assert.equal([rest, status], [item, 'completed'])
        assert.match(String(id), /^(?:sh|lsh|apc)_./)
        const first: JsonObject = JSON.parse(upstream.calls[0]?.body ?? '')
        assert.equal(declaredIn[target](first), [{ name: as, required }])

        const original = as === 'local_shell' ? { ...output, id: call_id } : { ...output, call_id }
        const next = { ...body, input: [...input, ...items, original] }
        const second = await world.post('/v1/responses', next)
        assert.is(second.status, 200, await second.clone().text())
        assert.is(second.headers.get('x-signalbox-warning'), null)
        const [called, given_, isPaired, result] = loopIn[target](JSON.parse(upstream.calls[1]?.body ?? ''))
        assert.equal([called, isPaired], [as, true])
        assert.match(JSON.stringify(result), new RegExp(read.source, 's'))
        const wanted = 'command' in args && as === 'shell' ? { commands: ['ls'] } : args
        assert.equal(given_, wanted)
      })
    }
  }
}

test("a call with arguments that don't fit the tool stays a function call", async () => {
  for (const stream of [false, true]) {
    const respond = () => calling['openai-chat']('apply_patch', '{"patch":"x"}', stream)
    const body = { tools: [{ type: 'apply_patch' }] }
    const { response } = await send({ client, model: 'chat/m', stream, body, respond })
    const text = await response.text()
    assert.match(text, /"type":"function_call".*"name":"apply_patch"/)
    assert.not.match(text, /apply_patch_call"/)
  }
})

test("a streamed shell call's start and end events arrive in order", async () => {
  const respond = () => calling['openai-chat']('shell', '{"commands":["ls"]}', true)
  const { response } = await send({
    client,
    model: 'chat/m',
    stream: true,
    body: { tools: [{ type: 'shell' }] },
    respond,
  })
  const events = [...(await response.text()).matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data))
  assert.equal(
    events.map(({ type, item }) => [type, item?.type, item?.status].filter(Boolean).join(' ')),
    [
      ...['response.created', 'response.in_progress'],
      'response.output_item.added shell_call in_progress',
      'response.output_item.done shell_call completed',
      'response.completed',
    ],
  )
  assert.equal(
    events.map(({ sequence_number: number }) => number),
    [0, 1, 2, 3, 4],
  )
})

test('an OpenAI-hosted shell is dropped if the request has other tools', async () => {
  const tools = [
    { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } },
    { type: 'shell', environment: { type: 'container_auto' } },
  ]
  const { sent, warned } = await send({
    ...{ client, model: 'chat/m', body: { tools } },
    respond: () => json(fullResponses['openai-chat']),
  })
  assert.equal([declaredIn['openai-chat'](sent).map(({ name }) => name), warned], [['f'], ['dropped:tools[1]']])
})

test("the function for a local shell lists the shell's skills in its description", async () => {
  const skills = [{ name: 'pdf', description: 'Reads PDFs', path: '/skills/pdf' }]
  const tools = [{ type: 'shell', environment: { type: 'local', skills } }]
  const respond = () => json(fullResponses['openai-chat'])
  const { sent } = await send({ client, model: 'chat/m', body: { tools }, respond })
  assert.match(JSON.stringify(sent.tools), /- pdf \(\/skills\/pdf\): Reads PDFs/)
})

test("forcing a vendor's tool forces the function that replaces it", async () => {
  const body = { tools: [{ type: 'shell' }, { type: 'apply_patch' }], tool_choice: { type: 'apply_patch' } }
  const { sent } = await send({ client, model: 'chat/m', body, respond: () => json(fullResponses['openai-chat']) })
  assert.equal(sent.tool_choice, { type: 'function', function: { name: 'apply_patch' } })
})

test("the client's own function with the same name stays a function", async () => {
  const tools = [{ type: 'function', name: 'shell', parameters: { type: 'object', properties: {} } }, { type: 'shell' }]
  const respond = () => calling['openai-chat']('shell', '{"commands":["ls"]}', false)
  const { response, warned } = await send({ client, model: 'chat/m', body: { tools }, respond })
  assert.equal(warned, ['dropped:tools[1]'])
  assert.is((await response.json()).output[0].type, 'function_call')
})

/** A request with this text contains sealed state, so it is translated even for a provider of the same format. */
const SEALED = 'signalbox-1:'
const openaiCatalog = {
  openai: { baseUrl: 'http://openai.test/v1', format: 'openai-responses', models: [{ id: 'gpt-5.6' }] },
} as const

test('OpenAI gets its own tools, calls, and outputs unchanged', async () => {
  const { shell, 'apply_patch with a change': patch } = cases
  assert.ok(shell && patch)
  const items = [
    { ...shell.item, id: 'sh_1', call_id: 'call_1', status: 'completed' },
    { ...patch.item, id: 'apc_1', call_id: 'call_2', status: 'completed' },
    { ...shell.output, call_id: 'call_1' },
    { ...patch.output, call_id: 'call_2' },
  ]
  const body = {
    input: [{ role: 'user', content: SEALED }, ...items],
    tools: [shell.tool, patch.tool],
    tool_choice: { type: 'shell' },
  }
  const answered = { ...shell.item, id: 'sh_9', call_id: 'call_9', status: 'completed' }
  for (const stream of [false, true]) {
    const { sent, warned, response } = await send({
      ...{ client, model: 'openai/gpt-5.6', stream, body, catalog: openaiCatalog },
      respond: () =>
        stream
          ? getStream(client, [responseEnd([answered])])
          : json({ ...fullResponses['openai-responses'], output: [answered] }),
    })
    assert.equal([sent.tools, sent.tool_choice, warned], [body.tools, body.tool_choice, []])
    assert.equal(
      getList(sent.input).slice(1),
      items.map(({ id: _, ...item }: JsonObject) => item),
    )
    assert.match(await response.text(), /"type":"shell_call","action":\{"commands":\["ls -l","pwd"\]/)
  }
})

/** Tools of the Messages format. */
const messageTools: Record<string, [tool: JsonObject, required: string[], args: JsonObject]> = {
  bash: [{ type: 'bash_20250124', name: 'bash' }, [], { command: 'ls' }],
  'the first version of the text editor': [
    { type: 'text_editor_20250124', name: 'str_replace_editor' },
    ['command', 'path'],
    { command: 'insert', path: '/a', insert_line: 0, new_str: 'x' },
  ],
  'the text editor': [
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 100 },
    ['command', 'path'],
    { command: 'view', path: '/a', view_range: [1, 2] },
  ],
  memory: [{ type: 'memory_20250818', name: 'memory' }, ['command'], { command: 'view', path: '/memories' }],
}

for (const [name, [tool, required, args]] of Object.entries(messageTools)) {
  for (const target of wireFormats) {
    if (target === 'anthropic-messages') continue
    for (const stream of [false, true]) {
      test(`the provider gets a function, and the Messages client gets a tool_use: ${name} (${target}${stream ? ', streamed' : ''})`, async () => {
        const body = { tools: [{ ...tool, cache_control: { type: 'ephemeral' } }] }
        const { response, sent, warned } = await send({
          ...{ client: 'anthropic-messages', model: `${providerOf[target]}/m`, stream, body },
          respond: () => calling[target](String(tool.name), JSON.stringify(args), stream),
        })
        assert.is(response.status, 200, await response.clone().text())
        assert.equal(declaredIn[target](sent), [{ name: tool.name, required }])
        assert.equal(warned, ['dropped:tools[0].cache_control'])
        const text = await response.text()
        assert.match(text, new RegExp(`"type":"tool_use","id":"[^"]+","name":"${tool.name}"`))
        const written = stream
          ? [...text.matchAll(/"partial_json":("(?:[^"\\]|\\.)*")/g)]
              .map(([, piece = '""']) => JSON.parse(piece))
              .join('')
          : JSON.stringify(JSON.parse(text).content[0].input)
        assert.equal(JSON.parse(written), args)
      })
    }
  }
}

test("a text editor's function uses the commands and field names of its version", async () => {
  const getSchema = async (type: string) => {
    const tools = [{ type, name: 'edit' }]
    const { sent } = await send({
      ...{ client: 'anthropic-messages', model: 'chat/m', body: { tools } },
      respond: () => json(fullResponses['openai-chat']),
    })
    const text = JSON.stringify(sent.tools)
    return ['undo_edit', 'insert_text'].map((word) => text.includes(`"${word}"`))
  }
  assert.equal(await getSchema('text_editor_20250124'), [true, false])
  assert.equal(await getSchema('text_editor_20250429'), [false, false])
  assert.equal(await getSchema('text_editor_20250728'), [false, true])
})

test('Claude gets Anthropic tools unchanged, and other models get functions', async () => {
  const tool = { type: 'bash_20250124', name: 'bash' }
  const body = {
    messages: [{ role: 'user', content: SEALED }],
    tools: [tool],
    tool_choice: { type: 'tool', name: 'bash' },
  }
  const sentTo = async (model: string) => {
    const { sent, warned } = await send({
      ...{ client: 'anthropic-messages', model, body },
      respond: () => json(fullResponses['anthropic-messages']),
    })
    assert.equal(warned, [])
    return sent
  }
  const own = await sentTo('anthropic/claude-sonnet-4-5')
  assert.equal([own.tools, own.tool_choice], [[tool], body.tool_choice])
  assert.equal(declaredIn['anthropic-messages'](await sentTo('messages/m')), [{ name: 'bash', required: [] }])
})
