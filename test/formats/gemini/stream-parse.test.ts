import { createSequence } from '../../../src/formats/canonical/sequence.ts'
import type { StreamEvent } from '../../../src/formats/canonical/stream.ts'
import { geminiTranslator } from '../../../src/formats/gemini/translator.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'

const test = suite('reading a stream of Gemini')

/** What is told of a stream of chunks, with the parts put together. */
function read(chunks: readonly unknown[]) {
  const { read: context, warnings } = contexts(geminiTranslator)
  const events: StreamEvent[] = []
  const sequence = createSequence((event) => events.push(event))
  const reader = geminiTranslator.createReader(context, sequence.take)
  for (const chunk of chunks)
    reader.observe({ event: undefined, data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) })
  reader.end()
  sequence.end()
  return { events, warnings: warnings.list(), ...summary(events) }
}

function summary(events: readonly StreamEvent[]) {
  const parts = new Map<number, { head: string; said: string; tail: string }>()
  for (const event of events) {
    if (event.type === 'part-start') parts.set(event.key, { head: headOf(event), said: '', tail: '' })
    const part = 'key' in event ? parts.get(event.key) : undefined
    if (!part) continue
    if (event.type === 'part-delta') part.said += event.text
    if (event.type === 'part-state') part.tail += ` <${event.state.data}>`
    if (event.type === 'part-citation') part.tail += ` ${JSON.stringify(event.citation)}`
  }
  const last = events.at(-1)
  return {
    parts: [...parts.values()].map(({ head, said, tail }) => `${head}: ${said}${tail}`),
    finish: last?.type === 'end' ? last.finishes.map(({ reason }) => reason).join() : `${last?.type}`,
    last,
  }
}

function headOf({ part, candidate }: StreamEvent & { type: 'part-start' }) {
  const where = candidate > 0 ? `[${candidate}] ` : ''
  const state = 'state' in part && part.state ? `<${part.state.data}>` : ''
  return where + (part.type === 'tool-call' ? `${part.name}#${part.id}${state}` : part.type + state)
}

const chunk = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  modelVersion: 'gemini-x',
  responseId: 'r1',
})
const text = (words: string, more: object = {}) => chunk([{ text: words }], more)
const stop = text('', { finishReason: 'STOP' })
const call = (functionCall: object, more: object = {}) => chunk([{ functionCall, ...more }])
const piece = (jsonPath: string, value: object) => call({ partialArgs: [{ jsonPath, ...value }], willContinue: true })

const table: Record<string, [chunks: unknown[], parts: string[], finish?: string]> = {
  text: [[text('a'), text('b'), stop], ['text: ab']],
  'the finish with the last text': [[text('a'), text('b', { finishReason: 'MAX_TOKENS' })], ['text: ab'], 'length'],
  'a finish without parts': [[text('a'), { candidates: [{ finishReason: 'STOP' }] }], ['text: a']],
  'no finish: it was cut': [[text('a')], ['text: a'], 'error'],
  'an end mark without a finish: it was cut': [[text('a'), '[DONE]'], ['text: a'], 'error'],
  'nothing but a finish': [[stop], []],
  'what is no JSON': [['oops', text('a'), stop], ['text: a']],
  'a chunk in an array': [[[text('a'), stop]], ['text: a']],
  'thoughts, then words': [
    [chunk([{ text: 'h', thought: true }]), chunk([{ text: 'm', thought: true }, { text: 'a' }]), stop],
    ['reasoning: hm', 'text: a'],
  ],
  'a signature on the last text': [[text('a'), chunk([{ text: 'b', thoughtSignature: 's' }]), stop], ['text: ab <s>']],
  'a signature on an empty text at the end': [
    [text('a'), chunk([{ text: '', thoughtSignature: 's' }], { finishReason: 'STOP' })],
    ['text: a <s>'],
  ],
  'a signature behind a call': [
    [call({ name: 'f' }), chunk([{ text: '', thoughtSignature: 's' }]), stop],
    ['f#call_id1: {}', 'text:  <s>'],
    'tool-calls',
  ],
  'a signature in the middle': [
    [chunk([{ text: 'a', thoughtSignature: 's' }]), text('b'), stop],
    ['text: a <s>', 'text: b'],
  ],
  'a signed thought without words': [[chunk([{ thought: true, thoughtSignature: 's' }]), stop], ['reasoning:  <s>']],
  'calls in chunks of their own, without ids': [
    [
      call({ name: 'f', args: { a: 1 } }, { thoughtSignature: 's' }),
      call({ name: 'f', args: { a: 2 } }),
      call({ name: 'g' }),
      stop,
    ],
    ['f#call_id1<s>: {"a":1}', 'f#call_id2: {"a":2}', 'g#call_id3: {}'],
    'tool-calls',
  ],
  'calls with ids, and one that is taken': [
    [chunk([{ functionCall: { id: 'x', name: 'f' } }, { functionCall: { id: 'x', name: 'f' } }]), stop],
    ['f#x: {}', 'f#call_id1: {}'],
    'tool-calls',
  ],
  'text after a call': [[call({ name: 'f' }), text('a'), stop], ['f#call_id1: {}', 'text: a'], 'tool-calls'],
  'a call that the limit cut': [
    [call({ name: 'f' }), text('', { finishReason: 'MAX_TOKENS' })],
    ['f#call_id1: {}'],
    'length',
  ],
  'a call without a name': [[text('a'), call({ args: {} }), stop], ['text: a']],
  'arguments in pieces, ended by an empty call': [
    [
      call({ name: 'f', id: 'x', willContinue: true }, { thoughtSignature: 's' }),
      piece('$.a', { stringValue: 'x', willContinue: true }),
      piece('$.a', { stringValue: 'y' }),
      piece("$['b c'].d[0]", { numberValue: 1 }),
      piece("$['b c'].d[1].e", { boolValue: true }),
      piece('$.n', { nullValue: 'NULL_VALUE' }),
      call({}),
      stop,
    ],
    ['f#x<s>: {"a":"xy","b c":{"d":[1,{"e":true}]},"n":null}'],
    'tool-calls',
  ],
  'arguments in pieces that nothing ends': [
    [call({ name: 'f', willContinue: true }), piece('$.a', { stringValue: 'x' }), stop],
    ['f#call_id1: {"a":"x"}'],
    'tool-calls',
  ],
  'arguments in pieces, ended by the next call': [
    [
      call({ name: 'f', willContinue: true }),
      piece('$.a', { numberValue: 2 }),
      call({ name: 'g', args: { b: 1 } }),
      stop,
    ],
    ['f#call_id1: {"a":2}', 'g#call_id2: {"b":1}'],
    'tool-calls',
  ],
  'all pieces at once': [
    [call({ name: 'f', partialArgs: [{ jsonPath: '$.a', numberValue: 2 }] }), stop],
    ['f#call_id1: {"a":2}'],
    'tool-calls',
  ],
  'pieces with names and places that nobody should use': [
    [
      call({ name: 'f', willContinue: true }),
      piece('$.__proto__.x', { numberValue: 1 }),
      piece('$.a[4000000000]', { numberValue: 1 }),
      piece('', { numberValue: 1 }),
      stop,
    ],
    ['f#call_id1: {"__proto__":{"x":1},"a":[1]}'],
    'tool-calls',
  ],
  'an image': [
    [chunk([{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' }, thoughtSignature: 's' }]), stop],
    ['image<s>: '],
  ],
  'several candidates': [
    [text('a'), { candidates: [{ index: 1, content: { parts: [{ text: 'b' }] }, finishReason: 'MAX_TOKENS' }] }, stop],
    ['text: a', '[1] text: b'],
    'stop,length',
  ],
  'an index that is none': [
    [{ candidates: [{ index: 4e9, content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }] }],
    ['text: a'],
  ],
  'a prompt that was blocked': [[{ promptFeedback: { blockReason: 'SAFETY' } }], [], 'content-filter'],
  'a broken call after words': [
    [text('a'), text('', { finishReason: 'MALFORMED_FUNCTION_CALL' })],
    ['text: a'],
    'malformed-call',
  ],
  'a broken call and nothing else': [[text('', { finishReason: 'MALFORMED_FUNCTION_CALL' })], [], 'error'],
}

for (const [name, [chunks, parts, finish = 'stop']] of Object.entries(table)) {
  test(`understands ${name}`, () => {
    const told = read(chunks)
    assert.equal(told.parts, parts)
    assert.is(told.finish, finish)
  })
}

test('takes id and model from the first chunk', () => {
  assert.equal(read([text('a'), stop]).events[0], { type: 'start', id: 'r1', model: 'gemini-x' })
})

test('the last tokens that are told count, and chunks that tell none change nothing', () => {
  const counts = { promptTokenCount: 8, candidatesTokenCount: 5, thoughtsTokenCount: 3, totalTokenCount: 16 }
  const { last } = read([
    { ...text('a'), usageMetadata: { trafficType: 'ON_DEMAND' } },
    { ...text('b'), usageMetadata: { promptTokenCount: 8, totalTokenCount: 8 } },
    {
      ...stop,
      usageMetadata: { ...counts, cachedContentTokenCount: 4, toolUsePromptTokenCount: 2, totalTokenCount: 18 },
    },
    { usageMetadata: { trafficType: 'ON_DEMAND' } },
  ])
  assert.equal(last?.type === 'end' && last.usage, {
    ...{ inputTokens: 10, outputTokens: 8, cacheReadTokens: 4, reasoningTokens: 3 },
  })
})

test('an error in a chunk ends the answer, with its message and status', () => {
  const error = { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '34.4s' }] }
  assert.equal(read([text('a'), { error }, stop]).last, {
    type: 'error',
    error: { kind: 'rate-limit', status: 429, message: 'slow down', code: 'RESOURCE_EXHAUSTED', retryAfterMs: 34_400 },
  })
})

test('why a prompt or an answer was blocked is told', () => {
  const finishes = (chunks: unknown[]) => {
    const { last } = read(chunks)
    return last?.type === 'end' ? last.finishes : []
  }
  assert.equal(finishes([{ promptFeedback: { blockReason: 'MODEL_ARMOR', blockReasonMessage: 'injection' } }]), [
    { reason: 'content-filter', explanation: 'injection' },
  ])
  assert.equal(finishes([text('a', { finishReason: 'SAFETY', finishMessage: 'hate' })]), [
    { reason: 'content-filter', explanation: 'hate' },
  ])
  assert.equal(
    finishes([
      call({ name: 'f' }),
      text('', { finishReason: 'STOP', finishMessage: 'Model generated function call(s).' }),
    ]),
    [{ reason: 'tool-calls' }],
  )
})

test("what Google's own tools ran is told of as a loss, like a call that has no name", () => {
  const code = chunk([{ executableCode: { code: 'x' } }, { codeExecutionResult: {} }, { functionCall: { args: {} } }])
  assert.equal(read([code, text('a'), stop]).warnings, [
    'dropped:executableCode',
    'dropped:codeExecutionResult',
    'dropped:functionCall',
  ])
})

test('logprobs are on the text of their chunk', () => {
  const logprobsResult = {
    chosenCandidates: [{ token: 'a', logProbability: -0.5, tokenId: 1 }],
    topCandidates: [{ candidates: [{ token: 'b', logProbability: -1 }] }],
  }
  const { events } = read([text('a', { logprobsResult }), stop])
  const delta = events.find((event) => event.type === 'part-delta')
  assert.equal(delta?.type === 'part-delta' && delta.logprobs, [
    { token: 'a', logprob: -0.5, top: [{ token: 'b', logprob: -1 }] },
  ])
})

test('sources come with the last chunk, counted in bytes over all of the text', () => {
  const groundingMetadata = {
    groundingChunks: [{ web: { uri: 'https://a.com', title: 'A' } }, { retrievedContext: { title: 'B', text: 'q' } }],
    groundingSupports: [
      { segment: { startIndex: 4, endIndex: 10, text: 'hé😀'.slice(1) }, groundingChunkIndices: [0, 1] },
      { segment: { endIndex: 99, text: 'nowhere' }, groundingChunkIndices: [0] },
    ],
  }
  const { parts } = read([text('ab h'), text('é😀 z'), text('', { finishReason: 'STOP', groundingMetadata })])
  assert.equal(parts, [
    `text: ab hé😀 z ${JSON.stringify({ url: 'https://a.com', title: 'A', start: 4, end: 7 })} ${JSON.stringify({ title: 'B', quote: 'q', start: 4, end: 7 })} ${JSON.stringify({ url: 'https://a.com', title: 'A' })}`,
  ])
})

test('many small chunks, and arguments in many pieces, cost linear time', () => {
  const time = (count: number) => {
    const start = performance.now()
    read([
      ...Array.from({ length: count }, () => text('word ')),
      call({ name: 'f', willContinue: true }),
      ...Array.from({ length: count }, () => piece('$.a', { stringValue: 'word ', willContinue: true })),
      stop,
    ])
    return performance.now() - start
  }
  time(500)
  assert.ok(time(20_000) < 3_000)
})
