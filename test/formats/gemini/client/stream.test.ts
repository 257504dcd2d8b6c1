import { encodeUtf8, toBase64 } from '../../../../src/lib/bytes.ts'
import type { CanonicalRequest } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import { sealState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'
import type { StreamEvent } from '../../../../src/protocols/formats/canonical/canonical-stream.ts'
import { geminiTranslator } from '../../../../src/protocols/formats/gemini/gemini-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const test = suite('writing a Gemini stream')

function write(events: readonly StreamEvent[], request: Partial<CanonicalRequest> = {}) {
  const written: string[] = []
  const writer = geminiTranslator.createWriter(contexts(geminiTranslator).write(request), (event) =>
    written.push(event),
  )
  for (const event of events) writer.push(event)
  return { written, writer }
}

/** Returns the chunks without the fields that all chunks have. */
function getChunks(events: readonly StreamEvent[], request?: Partial<CanonicalRequest>): object[] {
  return write(events, request).written.map((event) => {
    assert.match(event, /^data: [^\n]*\n\n$/)
    const { modelVersion, responseId, ...chunk } = JSON.parse(event.slice('data: '.length))
    if (!chunk.error) assert.equal([modelVersion, responseId], ['m', 'id1'])
    return chunk
  })
}

const createMessage = (part: object, index = 0) => ({
  candidates: [{ content: { role: 'model', parts: [part] }, index }],
})
const createFinish = (finishReason: string, extra: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason, index: 0, ...extra }],
})
const open = (key: number, part: (StreamEvent & { type: 'part-start' })['part'], candidate = 0): StreamEvent => ({
  ...{ type: 'part-start', key, candidate, part },
})
const delta = (key: number, text: string): StreamEvent => ({ type: 'part-delta', key, text })
const close = (key: number): StreamEvent => ({ type: 'part-end', key })
const end = (...reasons: ('stop' | 'length' | 'tool-calls')[]): StreamEvent => ({
  ...{ type: 'end', finishes: reasons.map((reason) => ({ reason })) },
})

const state = { origin: { format: 'anthropic-messages', account: 'v/1' }, kind: 'signature', data: 'sig' } as const
const thoughtSignature = toBase64(encodeUtf8(sealState(state)))

test('writes text as it arrives, then the finish reason and usage', () => {
  const usage = { inputTokens: 3, outputTokens: 4, reasoningTokens: 1 }
  const stop: StreamEvent = { type: 'end', finishes: [{ reason: 'stop' }], usage }
  assert.equal(
    getChunks([{ type: 'start' }, open(0, { type: 'text', text: '' }), delta(0, 'a'), delta(0, 'b'), close(0), stop]),
    [
      createMessage({ text: 'a' }),
      createMessage({ text: 'b' }),
      {
        ...createFinish('STOP'),
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 3, thoughtsTokenCount: 1, totalTokenCount: 7 },
      },
    ],
  )
})

test('writes interleaved calls sequentially, in the order of their starts', () => {
  const call = (id: string) => ({ type: 'tool-call', id, name: 'f', arguments: '' }) as const
  const events = [
    open(0, { ...call('a'), state }),
    open(1, call('b')),
    ...[delta(0, '{"x"'), delta(1, '{"y":2}'), delta(0, ':1}')],
    ...[open(2, call('c')), delta(2, '{"z":3}')],
    ...[close(1), close(0), close(2)],
    ...[open(3, call('d')), delta(3, '{"w":4}'), close(3), end('tool-calls')],
  ]
  assert.equal(getChunks(events), [
    createMessage({ functionCall: { id: 'a', name: 'f', args: { x: 1 } }, thoughtSignature }),
    createMessage({ functionCall: { id: 'b', name: 'f', args: { y: 2 } } }),
    createMessage({ functionCall: { id: 'c', name: 'f', args: { z: 3 } } }),
    createMessage({ functionCall: { id: 'd', name: 'f', args: { w: 4 } } }),
    createFinish('STOP'),
  ])
})

test('marks reasoning, and writes each signature after the content that it signs', () => {
  const events = [
    ...[
      open(0, { type: 'reasoning', text: '' }),
      delta(0, 'hm'),
      { type: 'part-state', key: 0, state } as const,
      close(0),
    ],
    ...[open(1, { type: 'text', text: '' }), delta(1, 'a'), { type: 'part-state', key: 1, state } as const, close(1)],
    end('stop'),
  ]
  const signed = [
    createMessage({ text: '', thought: true, thoughtSignature }),
    createMessage({ text: 'a' }),
    createMessage({ text: '', thoughtSignature }),
    createFinish('STOP'),
  ]
  assert.equal(getChunks(events), [createMessage({ text: 'hm', thought: true }), ...signed])
  assert.equal(getChunks(events, { options: { reasoning: { show: 'none' } } }), signed)
})

test('writes an image immediately, and keeps candidate indices', () => {
  const source = { type: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const
  const events = [
    open(0, { type: 'image', source }),
    close(0),
    open(1, { type: 'text', text: '' }, 1),
    delta(1, 'b'),
    close(1),
    end('stop', 'length'),
  ]
  const [image, text, last] = getChunks(events)
  assert.equal(
    [image, text],
    [createMessage({ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }), createMessage({ text: 'b' }, 1)],
  )
  assert.equal(
    Object(last).candidates.map(({ index, finishReason }: { index: number; finishReason: string }) => [
      index,
      finishReason,
    ]),
    [
      [0, 'STOP'],
      [1, 'MAX_TOKENS'],
    ],
  )
})

test("writes sources in the last chunk, and gives a refusal the content filter's finish reason", () => {
  const cited = { type: 'part-citation', key: 0, citation: { url: 'https://a.com', start: 1, end: 2 } } as const
  const [, , last] = getChunks([
    open(0, { type: 'text', text: '' }),
    delta(0, 'é'),
    delta(0, 'b'),
    cited,
    close(0),
    end('stop'),
  ])
  assert.equal(Object(last).candidates[0].groundingMetadata, {
    groundingChunks: [{ web: { uri: 'https://a.com' } }],
    groundingSupports: [{ segment: { startIndex: 2, endIndex: 3, text: 'b' }, groundingChunkIndices: [0] }],
  })
  assert.equal(getChunks([open(0, { type: 'refusal', text: '' }), delta(0, 'no'), close(0), end('stop')]), [
    createMessage({ text: 'no' }),
    createFinish('SAFETY'),
  ])
})

const error = { kind: 'overloaded', status: 529, message: 'busy' } as const

test('writes an error as the last chunk', () => {
  const events = [open(0, { type: 'text', text: '' }), delta(0, 'a'), { type: 'error', error } as const]
  assert.equal(getChunks(events), [
    createMessage({ text: 'a' }),
    { error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } },
  ])
})

test('Gemini keep-alives are blank lines, because clients mistake comments for chunks', () => {
  assert.is(write([]).writer.keepAlive(), '\n\n')
  assert.is(write([]).writer.contentType, 'text/event-stream')
})

test('without alt=sse, the stream is a single valid JSON array', () => {
  const isArray = { client: { isArray: true } }
  const start = [open(0, { type: 'text', text: '' }), delta(0, 'a"}]{'), close(0)]
  for (const events of [[...start, end('stop')], [...start, { type: 'error', error } as const], [end('stop')]]) {
    const { written, writer } = write(events, isArray)
    assert.is(writer.contentType, 'application/json')
    assert.is(JSON.parse(written.join(writer.keepAlive())).length, written.length)
  }
})
