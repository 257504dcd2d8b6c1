import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { isObject, type JsonObject } from '../../../src/lib/json.ts'
import type { CanonicalRequest } from '../../../src/protocols/formats/canonical/canonical-request.ts'
import type { Turn } from '../../../src/protocols/formats/canonical/canonical-turns.ts'
import { prepareRequest } from '../../../src/protocols/formats/canonical/prepare/prepare.ts'
import { geminiTranslator } from '../../../src/protocols/formats/gemini/gemini-translator.ts'
import { translateStream } from '../../../src/protocols/formats/translate-stream.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { type Received, recordedExchanges, recordedStreams } from '../support/recordings.ts'

const test = suite('Gemini recordings')

/** Translates a stream to the canonical format and back, in chunks, and returns it as a client of the same format receives it. */
function translate(sse: string, pieces: (bytes: Uint8Array) => Uint8Array[]): JsonObject[] {
  const { read, write } = contexts(geminiTranslator)
  const events: JsonObject[] = []
  const sides = { from: geminiTranslator, to: geminiTranslator, readerContext: read, writerContext: write() }
  const stream = translateStream(sides, (event) => events.push(JSON.parse(event.slice('data: '.length))))
  for (const piece of pieces(encodeUtf8(sse))) stream.push(piece)
  stream.end()
  return events
}

const truncate = (bytes: Uint8Array, size: () => number): Uint8Array[] => {
  const pieces: Uint8Array[] = []
  for (let index = 0; index < bytes.length; ) {
    const next = index + size()
    pieces.push(bytes.subarray(index, next))
    index = next
  }
  return pieces
}

/** Yields pseudorandom sizes that are the same in every run. */
function sizes() {
  let seed = 1
  return () => {
    seed = (seed * 48_271) % 2_147_483_647
    return 1 + (seed % 700)
  }
}

/** Returns a client's result for these chunks: their joined parts. */
function readResult(chunks: readonly JsonObject[]) {
  const received = { text: '', reasoning: '', calls: [] as unknown[][], finish: '', usage: {} as JsonObject }
  for (const chunk of chunks) {
    if (isObject(chunk.usageMetadata)) received.usage = chunk.usageMetadata
    for (const { content, finishReason } of Object(chunk.candidates ?? [])) {
      if (finishReason) received.finish = finishReason
      for (const part of content?.parts ?? []) {
        if (part.thought) received.reasoning += part.text ?? ''
        else received.text += part.text ?? ''
        if (part.functionCall) received.calls.push([part.functionCall.name, part.functionCall.args ?? {}])
      }
    }
  }
  return received
}

/** Returns a client's calls, or `undefined` if some have fragments, which Google's own client doesn't join. */
const getCalls = ({ tool_calls = [] }: Received) =>
  tool_calls.every((call) => call.name && !('partial' in call))
    ? tool_calls.map(({ name, args }) => [name, args ?? {}])
    : undefined

const sum = (usage: JsonObject, ...names: string[]) =>
  names.reduce((total, name) => total + Number(usage[name] ?? 0), 0)

for (const [mode, pieces, longest] of [
  ['in one chunk', (bytes: Uint8Array) => [bytes], Number.POSITIVE_INFINITY],
  ['in chunks of any size', (bytes: Uint8Array) => truncate(bytes, sizes()), Number.POSITIVE_INFINITY],
  ['byte by byte', (bytes: Uint8Array) => truncate(bytes, () => 1), 12_000],
] as const) {
  test(`recorded streams decode to the same result as with Google's client (${mode})`, () => {
    const recorded = recordedStreams('gemini').filter(({ sse }) => sse.length < longest)
    assert.ok(recorded.length > 50, String(recorded.length))
    for (const { name, sse, received } of recorded) {
      const events = translate(sse, pieces)
      const output = readResult(events)
      if (!received.finish) {
        assert.ok(isObject(events.at(-1)?.error), name) // an error, or nothing at all
        continue
      }
      assert.is(output.text, received.text, name)
      assert.is(output.reasoning, received.reasoning ?? '', name)
      assert.is(output.finish, received.finish, name)
      const calls = getCalls(received)
      if (calls) assert.equal(output.calls, calls, name)
      else assert.equal([output.calls.length, Object.keys(Object(output.calls[0]?.[1])).length > 1], [1, true], name)
      const { usage } = received
      if (!usage) continue
      assert.is(sum(output.usage, 'promptTokenCount'), sum(usage, 'promptTokenCount', 'toolUsePromptTokenCount'), name)
      assert.is(sum(output.usage, 'candidatesTokenCount'), sum(usage, 'candidatesTokenCount'), name)
      assert.is(sum(output.usage, 'thoughtsTokenCount'), sum(usage, 'thoughtsTokenCount'), name)
      if (usage.totalTokenCount) assert.is(output.usage.totalTokenCount, usage.totalTokenCount, name)
    }
  })
}

const isGeneration = (url: string) => /:(?:generateContent|streamGenerateContent)\b/.test(url)

test('recorded responses keep their meaning when parsed and rewritten', () => {
  let understood = 0
  for (const { name, url, status, response } of recordedExchanges(['gemini'])) {
    if (!isGeneration(url) || status !== 200 || !isObject(response)) continue
    const { read, write } = contexts(geminiTranslator)
    const again = geminiTranslator.writeResponse(geminiTranslator.parseResponse(response, read), write())
    const [output, received] = [readResult([again]), readResult([response])]
    assert.equal(
      [output.text, output.reasoning, output.calls],
      [received.text, received.reasoning, received.calls],
      name,
    )
    if (received.usage.totalTokenCount) assert.is(output.usage.totalTokenCount, received.usage.totalTokenCount, name)
    understood++
  }
  assert.ok(understood > 400, String(understood))
})

test('parses recorded errors', () => {
  const kinds = recordedExchanges(['gemini'])
    .filter(({ status, url, response }) => status >= 400 && isGeneration(url) && isObject(response))
    .map(
      ({ status, response: body }) =>
        geminiTranslator.parseError({ status, body, header: () => undefined, nowMs: 0 }).kind,
    )
  assert.equal([...new Set(kinds)].sort(), [
    'authentication',
    'bad-request',
    'context-overflow',
    'not-found',
    'rate-limit',
  ])
})

/** Returns a request's content, without parts that can be written in several ways. */
function getMeaning({ turns, tools, ...request }: CanonicalRequest) {
  const joined: Turn[] = []
  for (const turn of turns) {
    const last = joined.at(-1)
    if (turn.role === 'user' && last?.role === 'user') last.content.push(...turn.content)
    else joined.push(structuredClone(turn))
  }
  const meaning = { ...request, turns: joined, tools: [...tools].sort((a, b) => a.type.localeCompare(b.type)) }
  if (!tools.some(({ type }) => type === 'function')) delete meaning.toolChoice
  return meaning
}

test('recorded requests keep their meaning when parsed and rewritten', () => {
  let understood = 0
  for (const { name, url, request } of recordedExchanges(['gemini'])) {
    if (!isGeneration(url) || !isObject(request)) continue
    const { warnings, target } = contexts(geminiTranslator, {
      traits: {
        inputs: ['image', 'file', 'image-url', 'file-url', 'audio', 'audio-url', 'video', 'video-url', 'youtube'],
        lacks: [],
        toolResultInputs: ['image', 'file', 'audio'],
      },
    })
    const own = { ...target, origin: { format: 'gemini', account: 'v/1' } } as const
    const parse = (body: JsonObject) =>
      geminiTranslator.parseRequest(body, { warnings, route: { model: 'm', stream: false } })
    let input: CanonicalRequest
    try {
      input = parse(request)
    } catch (error) {
      assert.match(String(error), /only works with Google|cached at Google|must be "user" or "model"/, name)
      continue
    }
    const { request: prepared } = prepareRequest(input, { ...own, supportedOptions: geminiTranslator.supportedOptions })
    const again = parse(geminiTranslator.writeRequest(prepared, own).body)
    assert.equal(getMeaning(withoutOpening(again, prepared)), getMeaning(forTarget(prepared)), name)
    understood++
  }
  assert.ok(understood > 500, String(understood))
})

/** Drops efforts implied by a budget, which have no field of their own. */
function forTarget(request: CanonicalRequest): CanonicalRequest {
  const { reasoning } = request.options
  if (!reasoning || reasoning.effort === undefined) return request
  const { effort, budget, ...rest } = reasoning
  return {
    ...request,
    options: {
      ...request.options,
      reasoning: effort === 'none' ? { effort, ...rest } : { ...(budget !== undefined && { budget }), ...rest },
    },
  }
}

/** Drops the placeholder text that makes the conversation start with the user. */
function withoutOpening(again: CanonicalRequest, prepared: CanonicalRequest): CanonicalRequest {
  const begins = prepared.turns.find(({ role }) => role !== 'system')?.role === 'user'
  const i = again.turns.findIndex(({ role }) => role === 'user')
  return begins ? again : { ...again, turns: again.turns.filter((_, index) => index !== i) }
}
