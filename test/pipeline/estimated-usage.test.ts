import { assert, suite } from '../support/suite.ts'
import { chatChunk, chatEvents, chatResponse, messageEvents, textDelta } from './support/responses.ts'
import { fakeUpstream, json, type Respond, sse } from './support/upstream.ts'
import { openWorld, type World } from './support/world.ts'

const test = suite("usage that the provider doesn't report")

const modelOutput = 'The quick brown fox jumps over the lazy dog. '.repeat(20) // about 200 tokens
const input = 'How many animals are there in this sentence, and which of them is the faster one?' // about 17 tokens

const catalog = {
  one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm', price: { input: 1, output: 10 } }] },
  two: { baseUrl: 'http://two.test/v1', models: [{ id: 'm', price: { input: 1, output: 10 } }] },
  claude: {
    baseUrl: 'http://claude.test/v1',
    format: 'anthropic-messages',
    models: [{ id: 'c', price: { input: 1, output: 10 } }],
  },
  google: { baseUrl: 'http://google.test/v1', format: 'gemini', models: [{ id: 'g' }] },
} as const

const open = (respond: Respond) =>
  openWorld({ fetch: fakeUpstream(respond), catalog, connections: ['one', 'claude', 'google'] })

const isUsage = (event: string) => event.includes('"choices":[]')
const unreported = chatEvents(modelOutput).filter((event) => !isUsage(event))

const responsesEvents = [
  { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { id: 'i', type: 'message', role: 'assistant', content: [] },
  },
  ...modelOutput
    .split(/(?<= )/)
    .map((delta) => ({ type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta })),
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

const geminiEvents = modelOutput
  .split(/(?<=\. )/)
  .map((text) => `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }], role: 'model' } }] })}\n\n`)

/** Reads this many chunks of a stream, and then cancels it. */
async function readSome(response: Response, pieces: number): Promise<void> {
  const reader = response.body?.getReader()
  for (let index = 0; index < pieces; index++) await reader?.read()
  await reader?.cancel()
  await new Promise((resolve) => setTimeout(resolve, 0))
}

function getAttempt(world: World) {
  const [request] = world.recorded.requests
  const [attempt] = request?.attempts ?? []
  assert.equal(request?.usage, attempt?.usage)
  assert.is(request?.costSource, attempt?.costSource)
  return { source: attempt?.costSource, usage: attempt?.usage, costUsd: attempt?.costUsd, end: request?.end }
}

const assertNear = (tokens: number | undefined, wanted: number, label: string) =>
  assert.ok(
    tokens !== undefined && tokens > wanted * 0.7 && tokens < wanted * 1.5,
    `${label}: ${tokens} instead of about ${wanted}`,
  )

const messages = [{ role: 'user', content: input }]
const streams: ReadonlyArray<readonly [name: string, path: string, body: object, events: string[]]> = [
  ['chat', '/v1/chat/completions', { model: 'one/m', messages }, unreported],
  ['responses', '/v1/responses', { model: 'one/m', input }, responsesEvents],
  ['messages', '/v1/messages', { model: 'claude/c', messages, max_tokens: 900 }, messageEvents(modelOutput)],
  ['chat, translated', '/v1/chat/completions', { model: 'claude/c', messages }, messageEvents(modelOutput)],
  ['messages, translated', '/v1/messages', { model: 'one/m', messages, max_tokens: 900 }, unreported],
  [
    'gemini',
    '/v1beta/models/google%2Fg:streamGenerateContent?alt=sse',
    { contents: [{ parts: [{ text: input }] }] },
    geminiEvents,
  ],
]

const item = { id: 'i', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: modelOutput }] }
const call = {
  id: 'f',
  type: 'function_call',
  name: 'tell',
  call_id: 'f',
  arguments: JSON.stringify({ output: modelOutput }),
}
const itemDone = (of: object, output_index = 0) => ({ type: 'response.output_item.done', output_index, item: of })
const createCompleted = (output: object[]) => ({
  type: 'response.completed',
  response: { id: 'r', status: 'completed', output },
})

for (const [mode, sent, tokens] of [
  ['arrives in one item', [itemDone(item), createCompleted([])], 200],
  ['arrives in the final response', [createCompleted([item])], 200],
  ['arrives in an item and the final response', [itemDone(item), createCompleted([item])], 200],
  ['arrives in two items', [itemDone(item), itemDone(call, 1), createCompleted([])], 400],
  [
    'arrives in an item of a stream that breaks off',
    [itemDone(item), { type: 'response.in_progress', response: {} }],
    200,
  ],
] as const)
  for (const request of ['passed through', 'unrequested', 'translated'])
    test(`usage is estimated if a Responses stream has no deltas and its text ${mode} (${request})`, async () => {
      const isCut = mode.includes('breaks off')
      if (isCut && request !== 'passed through') return
      const events = [{ type: 'response.created', response: { id: 'r', output: [] } }, ...sent].map(
        (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
      )
      const world = await openWorld({
        fetch: fakeUpstream(() => sse(events)),
        catalog: { one: { ...catalog.one, format: 'openai-responses' } },
        connections: ['one'],
      })
      const model = 'one/m'
      if (request === 'translated')
        await (await world.post('/v1/chat/completions', { model, messages, stream: true })).text()
      else await (await world.post('/v1/responses', { model, input, stream: request !== 'unrequested' })).text()
      const { source, usage } = getAttempt(world)
      assert.is(source, 'estimated')
      assertNear(usage?.outputTokens, tokens, 'output')
    })

for (const [name, path, body, events] of streams) {
  const isClaude = events[0]?.includes('message_start') ?? false
  const send = (world: World) =>
    world.post(path, path.includes('gemini') || path.includes('v1beta') ? body : { ...body, stream: true })

  test(`usage is estimated if the stream breaks off (${name})`, async () => {
    const alsoSpeaks = path === '/v1/responses' ? { alsoSpeaks: ['openai-responses'] as const } : {}
    const world = await openWorld({
      fetch: fakeUpstream(() => sse(events.slice(0, -3), 'error')),
      catalog: { ...catalog, one: { ...catalog.one, ...alsoSpeaks } },
      connections: ['one', 'claude', 'google'],
    })
    await (await send(world)).text()
    const { source, usage, costUsd, end } = getAttempt(world)
    assert.equal([source, end], ['estimated', 'cut'])
    assertNear(usage?.outputTokens, name === 'gemini' ? 180 : 200, 'output')
    if (isClaude) assert.is(usage?.inputTokens, 10)
    else assert.ok(usage && usage.inputTokens >= 17 && usage.inputTokens < 80, `${usage?.inputTokens}`)
    if (name !== 'gemini')
      assert.ok(Math.abs((costUsd ?? 0) - ((usage?.outputTokens ?? 0) * 10 + (usage?.inputTokens ?? 0)) / 1e6) < 1e-5)
  })

  test(`usage is estimated if the client disconnects (${name})`, async () => {
    const alsoSpeaks = path === '/v1/responses' ? { alsoSpeaks: ['openai-responses'] as const } : {}
    const world = await openWorld({
      fetch: fakeUpstream(() => sse(events.slice(0, -3), 'hang')),
      catalog: { ...catalog, one: { ...catalog.one, ...alsoSpeaks } },
      connections: ['one', 'claude', 'google'],
    })
    await readSome(await send(world), name === 'gemini' ? 10 : 100)
    const { source, usage, end } = getAttempt(world)
    assert.equal([source, end], ['estimated', 'aborted'])
    assertNear(usage?.outputTokens, 110, 'output')
    if (isClaude) assert.is(usage?.inputTokens, 10)
  })
}

test('usage is estimated for a complete stream without reported usage', async () => {
  const world = await open(() => sse(unreported))
  await (await world.chat({ model: 'one/m', messages, stream: true })).text()
  const { source, usage, end } = getAttempt(world)
  assert.equal([source, end], ['estimated', 'complete'])
  assertNear(usage?.outputTokens, 200, 'output')
  assert.equal(
    world.recorded.usages.map(({ outputTokens, costSource }) => [outputTokens, costSource]),
    [[usage?.outputTokens, 'estimated']],
  )
})

test('usage is estimated for non-streaming responses, including tool calls and reasoning', async () => {
  const { usage: _, ...response } = chatResponse(modelOutput)
  const world = await open(() => json(response))
  await (await world.chat({ model: 'one/m', messages })).text()
  const { source, usage } = getAttempt(world)
  assert.is(source, 'estimated')
  assertNear(usage?.outputTokens, 200, 'output')
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify({ text: modelOutput }) } }
  const message = { role: 'assistant', content: null, reasoning_content: modelOutput, tool_calls: [call] }
  const thinking = await open(() =>
    json({ ...response, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
  )
  await (await thinking.chat({ model: 'one/m', messages })).text()
  assertNear(getAttempt(thinking).usage?.outputTokens, 405, 'output')
})

test('usage estimates stay accurate for streams of 10 to 20,000 chunks', async () => {
  for (const size of [10, 1_000, 20_000]) {
    const words = Array.from({ length: size }, (_, index) =>
      chatChunk({ content: index % 3 === 0 ? 'unbelievable ' : 'of ' }),
    )
    const world = await open(() => sse([...words, chatChunk({}, 'stop'), 'data: [DONE]\n\n']))
    await (await world.chat({ model: 'one/m', messages, stream: true })).text()
    assertNear(getAttempt(world).usage?.outputTokens, size * 1.6, `${size} words`)
  }
})

test('if the client disconnects before the response starts, only the input is estimated', async () => {
  let tellOfCall = () => {}
  const world = await open((_, index) => {
    tellOfCall()
    return index === 1 ? sse(unreported) : new Promise<Response>(() => {})
  })
  await (await world.chat({ model: 'one/m', messages, stream: true })).text() // loads the estimation code
  for (const stream of [false, true]) {
    const controller = new AbortController()
    const called = new Promise<void>((resolve) => {
      tellOfCall = resolve
    })
    const waiting = world.chat({ model: 'one/m', messages, stream }, { signal: controller.signal })
    await called
    controller.abort()
    await waiting.catch(() => {})
  }
  await new Promise((resolve) => setTimeout(resolve, 0))
  const left = world.recorded.requests.slice(1)
  assert.is(left.length, 2)
  for (const { attempts, usage } of left) {
    assert.is(attempts[0]?.costSource, 'estimated')
    assert.is(usage?.outputTokens, 0)
    assert.ok(Number(usage?.inputTokens) >= 17)
  }
})

test("usage isn't estimated for a failed request or a token count request", async () => {
  const world = await open(({ url }) =>
    url.pathname.endsWith('count_tokens') ? json({ input_tokens: 12 }) : json({ error: { message: 'No.' } }, 500),
  )
  await (await world.chat({ model: 'one/m', messages })).text()
  await (await world.post('/v1/messages/count_tokens', { model: 'claude/c', messages })).text()
  assert.equal(
    world.recorded.requests.map(({ usage, costUsd, costSource }) => [usage, costUsd, costSource]),
    [
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
    ],
  )
})

test('usage reported at the start of a stream is used if it exceeds the estimate', async () => {
  const world = await open(() => sse([...messageEvents('Hi').slice(0, 2), textDelta('Hi')], 'error'))
  await (await world.messages({ model: 'claude/c', messages, stream: true })).text()
  const { usage, source } = getAttempt(world)
  assert.equal([usage?.inputTokens, usage?.cacheReadTokens, source], [10, 3, 'estimated'])
  assert.ok(usage && usage.outputTokens >= 1 && usage.outputTokens < 4)
})
