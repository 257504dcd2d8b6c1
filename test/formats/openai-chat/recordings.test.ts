import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import { Stream } from 'openai/streaming'
import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { isObject } from '../../../src/lib/json.ts'
import { chatTranslator } from '../../../src/protocols/formats/openai-chat/chat-translator.ts'
import { translateStream } from '../../../src/protocols/formats/translate-stream.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { recordedExchanges, recordedStreams } from '../support/recordings.ts'

const test = suite('recorded chat completions')

/** Translates a stream to the canonical format and back, in chunks of `size` bytes. */
function translate(sse: string, size = Number.POSITIVE_INFINITY): string[] {
  const { read: readerContext, write } = contexts(chatTranslator)
  const events: string[] = []
  const stream = translateStream(
    { from: chatTranslator, to: chatTranslator, readerContext, writerContext: write() },
    (event) => events.push(event),
  )
  const bytes = encodeUtf8(sse)
  for (let index = 0; index < bytes.length; index += size) stream.push(bytes.subarray(index, index + size))
  stream.end()
  return events
}

/** Reads a stream with OpenAI's client. */
async function receivedBy(events: readonly string[]) {
  const response = new Response(events.join(''))
  const stream = Stream.fromSSEResponse(response, new AbortController()).toReadableStream()
  const { choices, usage } = await ChatCompletionStream.fromReadableStream(stream).finalChatCompletion()
  const [choice] = choices
  const calls = choice?.message.tool_calls ?? []
  return {
    text: choice?.message.content ?? '',
    calls: calls.map((call) => ('function' in call ? [call.id, call.function.name, call.function.arguments] : [])),
    finish: choice?.finish_reason,
    usage,
  }
}

const getReasoning = (events: readonly string[]) =>
  events
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)).choices?.[0]?.delta.reasoning_content ?? '')
    .join('')

/** Maps vendor-specific and missing finish reasons to OpenAI's. */
const getFinish = (finish: string | null | undefined) => (finish === 'eos' || !finish ? 'stop' : finish)

for (const [mode, size] of [
  ['in one chunk', undefined],
  ['byte by byte', 1],
] as const) {
  test(`OpenAI's client reads translated recordings like the originals ${mode}`, async () => {
    const recorded = recordedStreams('chat').filter(({ sse }) => size === undefined || sse.length < 20_000)
    assert.ok(recorded.length > 50)
    for (const { name, sse, received } of recorded) {
      const events = translate(sse, size)
      const result = await receivedBy(events).catch((error: Error) => error)
      if (!received.ok || result instanceof Error) {
        assert.ok(
          !received.ok && result instanceof Error,
          `${name}: ${result instanceof Error ? result.message : 'no error'}`,
        )
        continue
      }
      assert.is(result.text, received.text, name)
      assert.equal(
        result.calls,
        received.tool_calls?.map((call) => [call.id, call.name, call.arguments]),
        name,
      )
      assert.is(result.finish, getFinish(received.finish), name)
      if (received.reasoning !== undefined) assert.is(getReasoning(events), received.reasoning, name)
      if (!received.usage) continue
      assert.is(result.usage?.prompt_tokens, received.usage.prompt_tokens, name)
      assert.is(result.usage?.completion_tokens, received.usage.completion_tokens, name)
    }
  })
}

const folders = ['openai-chat', 'openai-compatible']

test('rewriting and reparsing a recorded request leaves it unchanged', () => {
  let understood = 0
  for (const { name, url, request } of recordedExchanges(folders)) {
    if (!url.includes('/chat/completions') || !isObject(request) || !Array.isArray(request.messages)) continue
    const { warnings, target } = contexts(chatTranslator, { traits: { cacheBreakpoints: 'cache_control' } })
    const parse = (body: object) => chatTranslator.parseRequest({ ...body }, { warnings })
    let parsed: ReturnType<typeof parse>
    try {
      parsed = parse(request)
    } catch (error) {
      assert.match(String(error), /only work with one vendor|content of type .* is not supported/, name)
      continue
    }
    const again = parse(chatTranslator.writeRequest(parsed, target).body)
    assert.equal(
      again.turns.map(({ role }) => role),
      parsed.turns.map(({ role }) => role),
      name,
    )
    assert.equal(again.tools.length, parsed.tools.length, name)
    understood++
  }
  assert.ok(understood > 800, String(understood))
})

test('parses all recorded responses', () => {
  let understood = 0
  for (const { name, url, status, response } of recordedExchanges(folders)) {
    if (!url.includes('/chat/completions') || status !== 200 || !isObject(response) || !Array.isArray(response.choices))
      continue
    const { read } = contexts(chatTranslator)
    const { choices, usage } = chatTranslator.parseResponse(response, read)
    const [message] = response.choices.map((choice) => choice.message ?? choice.delta)
    const text = choices[0]?.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    if (typeof message?.content === 'string') assert.is(text, message.content, name)
    const calls = choices[0]?.content.filter((part) => part.type === 'tool-call').length
    assert.is(calls, message?.tool_calls?.length ?? (message?.function_call?.name ? 1 : 0), name)
    if (isObject(response.usage)) assert.is(usage?.inputTokens, response.usage.prompt_tokens, name)
    understood++
  }
  assert.ok(understood > 700, String(understood))
})
