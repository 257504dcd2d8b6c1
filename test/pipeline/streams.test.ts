import { assert, suite } from '../support/suite.ts'
import { askRaw, getChunks, rawUpstream } from './support/raw.ts'
import { chatChunk, chatEvents, messageEvents, ping, textDelta } from './support/responses.ts'
import { fakeUpstream, getBody, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('streams')
const encode = (text: string) => new TextEncoder().encode(text)

/** Resolves to the stream that a client reads if the provider sends these chunks. */
async function relay(path: 'chat' | 'messages', chunks: Iterable<string>, end: 'close' | 'error' = 'close') {
  const fetch = rawUpstream(() => getChunks([...chunks].map(encode), end))
  const world = await openWorld({ fetch })
  const model = path === 'chat' ? 'one/m' : 'claude/c'
  const { reply, text, pieces } = await askRaw(
    world.gateway,
    path === 'chat' ? '/v1/chat/completions' : '/v1/messages',
    { model, stream: true },
  )
  return { reply, text, pieces, recorded: world.recorded }
}

for (const [name, end] of Object.entries({ LF: '\n', CRLF: '\r\n', CR: '\r' })) {
  test(`events that end with ${name} arrive one by one, even if each byte arrives separately`, async () => {
    const full = chatEvents('one two three four five six seven').join('').replaceAll('\n', end)
    const { text, pieces } = await relay('chat', full)
    assert.is(text, full)
    assert.is(pieces, end === '\n' ? 10 : 11) // seven words, finish, usage, and end; plus the role if the end arrives late
  })
}

test("streams have the right content type, and aren't stored or buffered", async () => {
  const upstream = fakeUpstream(
    () => new Response(getBody(chatEvents()), { headers: { 'content-type': 'text/plain' } }),
  )
  const world = await openWorld({ fetch: upstream })
  const { headers } = await world.chat({ stream: true })
  assert.match(headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.match(headers.get('cache-control') ?? '', /no-cache, no-transform/)
  assert.is(headers.get('x-accel-buffering'), 'no')
})

test('a stream can end without a blank line, and without an end marker after a finish reason', async () => {
  const events = chatEvents()
  for (const [sent, received] of [
    [events.join('').trimEnd(), events.join('')],
    [`${events.slice(0, -1).join('')}data: [DONE]\n`, `${events.slice(0, -1).join('')}data: [DONE]\n\n\n`],
    [events.slice(0, -1).join(''), events.slice(0, -1).join('')],
    [events.slice(0, -2).join(''), events.slice(0, -2).join('')],
  ] as const) {
    const { text, recorded } = await relay('chat', [sent])
    assert.is(text, received)
    assert.is(recorded.requests[0]?.status, 200)
  }
  const message = messageEvents()
  const { text } = await relay('messages', [message.join('').trimEnd()])
  assert.is(text, message.join(''))
})

test('an incomplete event at the end is replaced by an error', async () => {
  const events = chatEvents()
  const output = events.slice(0, 3).join('')
  for (const half of ['d', 'data: ', 'data: {"id":"c1","cho', 'event: x', 'event: x\n', ': note', 'id: 7\n']) {
    for (const end of ['close', 'error'] as const) {
      const { text, recorded } = await relay('chat', [output + half], end)
      assert.ok(text.startsWith(`${output}data: {"error":{`), JSON.stringify([half, end]))
      assert.ok(text.endsWith('}\n\n'))
      assert.is(text.slice(output.length).split('\n\n').length, 2, 'one additional event')
      assert.is(recorded.requests[0]?.status, 502)
    }
  }
  const message = messageEvents()
  const finished = message.slice(0, -1).join('')
  const { text } = await relay('messages', [`${finished}event: message_stop\n`])
  assert.is(text, finished, 'an event name without data would be an event that no client can read')
})

test('an event that lacks only its blank line counts as complete, and is sent before the error', async () => {
  const output = chatEvents().slice(0, 3).join('')
  for (const end of ['close', 'error'] as const) {
    const { text } = await relay('chat', [output.trimEnd()], end)
    assert.ok(text.startsWith(`${output}data: {"error":{`), text)
  }
})

test('a mid-stream error is passed through once and ends the stream, and no other target is tried', async () => {
  const error = 'data: {"error":{"code":400,"message":"Token limit reached"}}\n\n'
  for (const rest of ['', 'data: [DONE]\n\n']) {
    const sent = chatEvents().slice(0, 3).join('') + error
    const { text, recorded } = await relay('chat', [sent + rest])
    assert.is(text, sent)
    assert.is(recorded.requests[0]?.status, 400)
    assert.is(recorded.attempts.length, 1)
  }
  const failed = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
  const { text, recorded } = await relay('messages', [messageEvents().slice(0, 5).join('') + failed])
  assert.ok(text.endsWith(failed))
  assert.is(text.match(/event: error/g)?.length, 1)
  assert.is(recorded.requests[0]?.status, 529)
})

test('an event named error counts as an error, and no end marker follows', async () => {
  for (const data of ['{"message":"Over"}', '{"detail":"Over"}', '{}', 'Over', '""']) {
    const output = [...chatEvents().slice(0, 3), `event: error\ndata: ${data}\n\n`]
    const { text, recorded } = await relay('chat', [...output, 'data: [DONE]\n\n'])
    assert.ok(text.startsWith(`${output.join('')}data: {"error":{`), text)
    assert.not.match(text, /DONE/)
    assert.is(recorded.requests[0]?.status, 502, data)
  }
  const bare = 'data: {"object":"error","message":"Out of memory","code":500}\n\n'
  const { recorded } = await relay('chat', [...chatEvents().slice(0, 3), bare, 'data: [DONE]\n\n'])
  assert.is(recorded.requests[0]?.status, 500, 'without an envelope')
})

test('an event named error before the first content fails the attempt', async () => {
  const upstream = fakeUpstream((_, index) =>
    sse(index === 1 ? 'event: error\ndata: {"message":"Over"}\n\n' : chatEvents()),
  )
  const world = await openWorld({ fetch: upstream, combos: { chain: ['one/m', 'two/m'] } })
  const response = await world.chat({ model: 'chain', stream: true })
  assert.is(response.headers.get('x-signalbox-target'), 'two/m')
  assert.is(world.recorded.attempts[0]?.message, 'Over')
  await response.text()
})

test("a stream cut off in the middle causes an error in the client's format", async () => {
  const chat = await relay('chat', chatEvents().slice(0, 3), 'error')
  assert.match(
    chat.text,
    /data: \{"error":\{"message":"[^"]+","type":"server_error","param":null,"code":"upstream_cut"\}\}\n\n$/,
  )
  assert.not.match(chat.text, /\[DONE\]/)
  const messages = await relay('messages', messageEvents().slice(0, 5), 'error')
  assert.match(
    messages.text,
    /event: error\ndata: \{"type":"error","error":\{"type":"api_error","message":"[^"]+"\},"request_id":null\}\n\n$/,
  )
})

test('a connection error after the last event has no effect', async () => {
  for (const [path, events] of [
    ['chat', chatEvents()],
    ['messages', messageEvents()],
  ] as const) {
    const { text, recorded } = await relay(path, events, 'error')
    assert.is(text, events.join(''))
    assert.is(recorded.requests[0]?.status, 200)
  }
})

test("pings and comments are passed through, but don't count as a response", async () => {
  const events = [': wait\n\n', ...messageEvents().slice(0, 3), ping, ping, ': still\n\n', textDelta('late')]
  const { text } = await relay('messages', [...events, ...messageEvents().slice(-3)])
  assert.is(text, [...events, ...messageEvents().slice(-3)].join(''))
})

test("the start of a tool call counts as content, but the start of empty text doesn't", async () => {
  const [start = '', text = ''] = messageEvents()
  const tool = text.replace('"type":"text","text":""', '"type":"tool_use","id":"t1","name":"f","input":{}')
  const over = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
  const started = await relay('messages', [start, tool, over])
  assert.equal([started.reply.status, started.text], [200, start + tool + over])
  for (const opening of [start, start + text, ping, ping + start + text + ping]) {
    const { reply } = await relay('messages', [opening, over])
    assert.is(reply.status, 529)
  }
})

test('usage is found in the finish chunk, after it, and next to large last chunks', async () => {
  const usage = { prompt_tokens: 5, completion_tokens: 4 }
  const finish = chatChunk({}, 'stop')
  const beside = finish.replace('"choices"', `"usage":${JSON.stringify(usage)},"choices"`)
  const large = `data: ${JSON.stringify({ choices: [], usage, sources: 'x'.repeat(20_000) })}\n\n`
  for (const last of [[beside], [beside, 'data: [DONE]\n\n'], [finish, large], [finish, large, 'data: [DONE]\n\n']]) {
    const { recorded, text } = await relay('chat', [...chatEvents().slice(0, 3), ...last])
    assert.equal([recorded.usages[0]?.inputTokens, recorded.usages[0]?.outputTokens], [5, 4])
    assert.is(recorded.requests[0]?.status, 200)
    assert.not.match(text, /upstream_cut/)
  }
})

test('a stream without content is aborted after at most 17 MiB', async () => {
  const comment = encode(`: ${'x'.repeat(100_000)}\n\n`)
  let sent = 0
  let canceled = false
  const noise = {
    next: async () => (sent++ < 1_000 ? comment : undefined),
    cancel() {
      canceled = true
    },
  }
  const world = await openWorld({ fetch: rawUpstream(() => noise) })
  const { reply } = await askRaw(world.gateway, '/v1/chat/completions', { model: 'one/m', stream: true })
  assert.is(reply.status, 502)
  assert.ok(sent * comment.length < 17 * 1024 * 1024, `${sent} pieces`)
  assert.is(canceled, true)
})

test('an event larger than 16 MiB is rejected, before and after the first content', async () => {
  function* endless() {
    for (let sent = 0; sent < 17; sent++) yield 'x'.repeat(1024 * 1024)
  }
  const before = await relay('chat', ['data: "', ...endless()])
  assert.is(before.reply.status, 502)
  const behind = await relay('chat', [...chatEvents().slice(0, 3), 'data: "', ...endless()])
  assert.match(behind.text, /longer than 16 MiB.*upstream_invalid/)
})

test("for a client that doesn't read, the gateway reads at most 64 KiB from the provider", async () => {
  const event = chatChunk({ content: 'x'.repeat(1_000) })
  function* endless() {
    for (;;) yield event
  }
  const upstream = fakeUpstream(() => sse(endless()))
  const world = await openWorld({ fetch: upstream })
  const response = await world.chat({ stream: true })
  await world.clock.advance(3_600_000)
  assert.ok(upstream.pulled <= 64 * 1024, `${upstream.pulled} bytes`)
  const reader = response.body?.getReader()
  for (let read = 0; read < 200; read++) await reader?.read()
  await world.clock.advance(3_600_000)
  assert.ok(upstream.pulled <= 200 * event.length + 64 * 1024, `${upstream.pulled} bytes`)
  await reader?.cancel()
  assert.is(upstream.open, 0)
})
