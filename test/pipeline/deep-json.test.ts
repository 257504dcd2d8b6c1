import { wireFormats } from '../../src/lib/unions.ts'
import type { Catalog, WireFormat } from '../../src/types.ts'
import { converseAnswer, eventFrame } from '../formats/support/event-stream.ts'
import { assert, suite } from '../support/suite.ts'
import { chatAnswer, chatChunk, messageAnswer } from './support/answers.ts'
import { bodyOf, fakeUpstream, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('JSON that nests too deep')

const catalog: Catalog = {
  chat: { baseUrl: 'http://chat.test/v1' },
  other: { baseUrl: 'http://other.test/v1' },
  responses: { baseUrl: 'http://responses.test/v1', format: 'openai-responses' },
  claude: { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages' },
  google: { baseUrl: 'http://google.test/v1', format: 'gemini' },
  bedrock: { cloud: 'bedrock', format: 'bedrock-converse' },
  vertex: { cloud: 'vertex', format: 'gemini', formats: { 'claude-': 'anthropic-messages' } },
}

const providerSpecificData = { region: 'us-east-1', project: 'mine' }
const connections = Object.keys(catalog).map((provider) => ({
  provider,
  apiKey: `a-credential-of-${provider}`,
  ...(catalog[provider]?.cloud === 'bedrock' && { providerSpecificData: { region: providerSpecificData.region } }),
  ...(catalog[provider]?.cloud === 'vertex' && { providerSpecificData: { project: providerSpecificData.project } }),
}))

/** An object of so many levels as JSON; with long integers, which are parsed in another way. */
const nested = (depth: number, leaf = '1') => `${'{"a":'.repeat(depth)}${leaf}${'}'.repeat(depth)}`

const LIMIT = 64
const LEAVES = ['1', '12345678901234567890']
const tool = { name: 'look', parameters: { type: 'object', properties: {} } }

/** A conversation with a call and its result, as clients tell it whose arguments are a text. */
const conversations: Partial<
  Record<WireFormat, (model: string, args: string, result: string) => [path: string, body: object]>
> = {
  'openai-chat': (model, args, result) => [
    '/v1/chat/completions',
    {
      model,
      tools: [{ type: 'function', function: tool }],
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: args } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: result },
      ],
    },
  ],
  'openai-responses': (model, args, result) => [
    '/v1/responses',
    {
      model,
      tools: [{ type: 'function', ...tool }],
      input: [
        { role: 'user', content: 'Look.' },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: args },
        { type: 'function_call_output', call_id: 'c1', output: result },
      ],
    },
  ],
}

const unable = () => json({ error: { message: 'Not today.', status: 'INVALID_ARGUMENT' } }, 400)

const parsing = ['claude/m', 'google/m', 'bedrock/m', 'vertex/m', 'vertex/claude-m']

for (const [format, conversation] of Object.entries(conversations)) {
  for (const model of parsing) {
    test(`JSON that nests too deep in the arguments of a call is a 400 for a client of ${format} with ${model}`, async () => {
      const up = fakeUpstream(unable)
      const world = await openWorld({ fetch: up, catalog, connections })
      for (const leaf of LEAVES) {
        for (const depth of [LIMIT + 1, 500, 5_000, 50_000]) {
          for (const stream of [false, true]) {
            const [path, body] = conversation(model, nested(depth, leaf), 'done')
            const response = await world.post(path, { ...body, stream })
            const { error } = await response.json()
            assert.equal([response.status, up.calls.length], [400, 0], `${depth}: ${JSON.stringify(error)}`)
            assert.match(error.message, /arguments.*deeper than 64 levels/)
          }
        }
      }
      assert.equal(world.told.errors, [])
      const [path, body] = conversation(model, nested(LIMIT), nested(LIMIT))
      await (await world.post(path, body)).text()
      assert.is(up.calls.length, 1, 'as many levels as a request may have')
      assert.ok(up.calls[0]?.body.includes(nested(LIMIT)))
    })
  }

  for (const model of ['google/m', 'vertex/m']) {
    test(`JSON that nests too deep in the result of a call is a 400 for a client of ${format} with ${model}`, async () => {
      const up = fakeUpstream(unable)
      const world = await openWorld({ fetch: up, catalog, connections })
      for (const result of [nested(LIMIT + 1), nested(5_000), `${'['.repeat(5_000)}${']'.repeat(5_000)}`]) {
        const [path, body] = conversation(model, '{}', result)
        const response = await world.post(path, body)
        const { error } = await response.json()
        assert.equal([response.status, up.calls.length], [400, 0])
        assert.match(error.message, /deeper than 64 levels/)
      }
      const [path, body] = conversation(model, '{}', '['.repeat(5_000))
      await world.post(path, body)
      assert.is(up.calls.length, 1, 'a text that is no JSON is not parsed')
    })
  }

  test(`JSON that nests too deep goes on to another target for a client of ${format}`, async () => {
    const up = fakeUpstream(unable)
    const combos = { chain: ['claude/m', format === 'openai-chat' ? 'chat/m' : 'responses/m'] }
    const world = await openWorld({ fetch: up, catalog, connections, combos })
    const [path, body] = conversation('chain', nested(5_000), nested(5_000))
    await (await world.post(path, body)).text()
    assert.equal(up.providers, [format === 'openai-chat' ? 'chat' : 'responses'])
    assert.ok(JSON.parse(up.calls[0]?.body ?? ''))
  })
}

const calling = (args: unknown) => ({ id: 'c1', type: 'function', function: { name: 'look', arguments: args } })

/** What each provider answers with a call whose arguments are such a JSON, whole and as a stream. */
const answers: Record<string, { whole(args: string): Response; stream(args: string): Response }> = {
  chat: {
    whole: (args) =>
      json({
        ...chatAnswer(),
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: args } }],
            },
            finish_reason: 'tool_calls',
          },
        ],
      }),
    stream: (args) =>
      sse([
        chatChunk({ role: 'assistant', content: 'I look.' }),
        chatChunk({
          tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '' } }],
        }),
        ...(args.match(/.{1,1000}/gs) ?? []).map((piece) =>
          chatChunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }),
        ),
        chatChunk({}, 'tool_calls'),
        'data: [DONE]\n\n',
      ]),
  },
  'chat, with objects for arguments': {
    whole: (args) =>
      json(
        JSON.stringify({
          ...chatAnswer(),
          choices: [
            { index: 0, message: { role: 'assistant', tool_calls: [calling(0)] }, finish_reason: 'tool_calls' },
          ],
        }).replace('"arguments":0', `"arguments":${args}`),
      ),
    stream: (args) =>
      sse([
        chatChunk({ role: 'assistant', content: 'I look.' }),
        chatChunk({ tool_calls: [{ index: 0, ...calling(0) }] }).replace('"arguments":0', `"arguments":${args}`),
        chatChunk({}, 'tool_calls'),
        'data: [DONE]\n\n',
      ]),
  },
  claude: {
    whole: (args) =>
      json(
        JSON.stringify({
          ...messageAnswer(),
          content: [{ type: 'tool_use', id: 't1', name: 'look', input: 0 }],
          stop_reason: 'tool_use',
        }).replace('"input":0', `"input":${args}`),
      ),
    stream: (args) =>
      sse(
        [
          JSON.stringify({ type: 'message_start', message: { ...messageAnswer(), content: [], stop_reason: null } }),
          '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
          '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look."}}',
          '{"type":"content_block_stop","index":0}',
          `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"look","input":${args}}}`,
          '{"type":"content_block_stop","index":1}',
          '{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}',
          '{"type":"message_stop"}',
        ].map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`),
      ),
  },
  google: {
    whole: (args) =>
      json(
        `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":${args}}}]},"finishReason":"STOP","index":0}]}`,
      ),
    stream: (args) =>
      sse(
        [
          '{"candidates":[{"content":{"role":"model","parts":[{"text":"I look."}]},"index":0}]}',
          `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":${args}}}]},"finishReason":"STOP","index":0}]}`,
        ].map((data) => `data: ${data}\n\n`),
      ),
  },
  bedrock: {
    whole: (args) =>
      json(
        JSON.stringify({ ...converseAnswer(), stopReason: 'tool_use' }).replace(
          '{"text":"Hello"}',
          `{"toolUse":{"toolUseId":"t1","name":"look","input":${args}}}`,
        ),
      ),
    stream: (args) =>
      new Response(
        bodyOf([
          eventFrame('messageStart', { role: 'assistant' }),
          eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'I look.' } }),
          eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
          eventFrame('contentBlockStart', {
            contentBlockIndex: 1,
            start: { toolUse: { toolUseId: 't1', name: 'look' } },
          }),
          eventFrame('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: args } } }),
          eventFrame('contentBlockStop', { contentBlockIndex: 1 }),
          eventFrame('messageStop', { stopReason: 'tool_use' }),
        ]),
        { headers: { 'content-type': 'application/vnd.amazon.eventstream' } },
      ),
  },
}

const hi = [{ role: 'user', content: 'Look.' }]
const questions: Record<WireFormat, (model: string, stream: boolean) => [path: string, body: object]> = {
  'openai-chat': (model, stream) => [
    '/v1/chat/completions',
    { model, stream, messages: hi, tools: [{ type: 'function', function: tool }] },
  ],
  'openai-responses': (model, stream) => [
    '/v1/responses',
    { model, stream, input: 'Look.', tools: [{ type: 'function', ...tool }] },
  ],
  'anthropic-messages': (model, stream) => [
    '/v1/messages',
    { model, stream, max_tokens: 9, messages: hi, tools: [{ name: 'look', input_schema: tool.parameters }] },
  ],
  gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: 'Look.' }] }], tools: [{ functionDeclarations: [tool] }] },
  ],
}

const formatOf: Record<string, string> = {
  chat: 'openai-chat',
  'chat, with objects for arguments': 'openai-chat',
  claude: 'anthropic-messages',
  google: 'gemini',
}
const objects: readonly WireFormat[] = ['anthropic-messages', 'gemini']

/** Are the arguments parsed on the way, or written as JSON? */
function isParsed(provider: string, client: WireFormat, stream: boolean): boolean {
  if (formatOf[provider] === client) return false
  if (provider === 'chat') return stream ? client === 'gemini' : objects.includes(client)
  if (provider === 'bedrock' && stream) return client === 'gemini' // pieces of text, as with the formats of OpenAI
  return true
}

for (const [said, answer] of Object.entries(answers)) {
  const [provider = ''] = said.split(',')
  for (const client of wireFormats) {
    test(`JSON that nests too deep in a whole answer of ${said} is a 502 for a client of ${client}, unless it is passed through as it is`, async () => {
      for (const depth of [LIMIT + 1, 5_000]) {
        for (const leaf of LEAVES) {
          const args = nested(depth, leaf)
          const up = fakeUpstream(({ provider }) => (provider === 'other' ? json(chatAnswer()) : answer.whole(args)))
          const combos = { chain: [`${provider}/m`, 'other/m'] }
          const world = await openWorld({ fetch: up, catalog, connections, combos })
          const response = await world.post(...questions[client](`${provider}/m`, false))
          const text = await response.text()
          if (!isParsed(said, client, false)) {
            assert.is(response.status, 200, text.slice(0, 200))
            continue
          }
          assert.is(response.status, 502, text.slice(0, 200))
          assert.match(text, /deeper than 64 levels/)
          const next = await world.post(...questions[client]('chain', false))
          assert.equal([next.status, up.providers.at(-1)], [200, 'other'])
          assert.equal(world.told.errors, [])
        }
      }
    })

    test(`JSON that nests too deep in a stream of ${said} ends it with an error for a client of ${client}, unless it is passed through as it is`, async () => {
      for (const depth of [LIMIT + 1, 5_000]) {
        for (const leaf of LEAVES) {
          const up = fakeUpstream(() => answer.stream(nested(depth, leaf)))
          const world = await openWorld({ fetch: up, catalog, connections })
          const response = await world.post(...questions[client](`${provider}/m`, true))
          const text = await response.text()
          assert.is(response.status, 200)
          assert.ok(text.includes('I look.'))
          const isRefused = /deeper than 64 levels/.test(text)
          assert.is(isRefused, isParsed(said, client, true), text.slice(-300))
          await world.clock.advance(1)
          assert.is(world.told.requests[0]?.status, isRefused ? 502 : 200)
          assert.equal([world.told.errors, up.open], [[], 0])
        }
      }
    })
  }
}

test('JSON that nests too deep in an answer that is to be a list is a 502, whole and streamed', async () => {
  const deep = `{"answer":${nested(5_000)}}`
  const schema = { type: 'array', items: { type: 'object' } }
  const generationConfig = { responseMimeType: 'application/json', responseJsonSchema: schema }
  for (const stream of [false, true]) {
    const up = fakeUpstream(() =>
      stream
        ? sse([chatChunk({ role: 'assistant', content: deep }), chatChunk({}, 'stop'), 'data: [DONE]\n\n'])
        : json(chatAnswer(deep)),
    )
    const world = await openWorld({ fetch: up, catalog, connections })
    const [path, body] = questions.gemini('chat/m', stream)
    const response = await world.post(path, { ...body, tools: undefined, generationConfig })
    const text = await response.text()
    assert.is(response.status, stream ? 200 : 502, text.slice(0, 300))
    assert.match(text, /deeper than 64 levels/)
    assert.equal(world.told.errors, [])
  }
})

test('JSON that nests too deep in the error of a provider reaches the client as an error of the provider, and onError is not called', async () => {
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  for (const said of [
    `{"error":{"message":"Not \\"today\\"","details":${deep}}}`,
    `{"detail":${deep},"message":"a \\\\ b"}`,
    deep,
  ]) {
    for (const status of [200, 500]) {
      for (const model of ['chat/m', 'google/m', 'bedrock/m']) {
        for (const client of wireFormats) {
          const world = await openWorld({ fetch: fakeUpstream(() => json(said, status)), catalog, connections })
          const response = await world.post(...questions[client](model, false))
          assert.ok((await response.json()).error.message !== '')
          assert.ok(status === 500 ? response.status === 500 : response.status > 500, String(response.status))
          assert.equal(world.told.errors, [], `${model} ${client}`)
        }
      }
    }
  }
})
