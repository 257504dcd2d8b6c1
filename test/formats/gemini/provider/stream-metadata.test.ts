import { assert, suite } from '../../../support/suite.ts'
import { call, chunk, read, stop, text } from '../support/read-stream.ts'

const test = suite('Gemini stream metadata')

test('the ID and model come from the first chunk', () => {
  assert.equal(read([text('a'), stop]).events[0], { type: 'start', id: 'r1', model: 'gemini-x' })
})

test('the last reported usage wins, and chunks without usage have no effect', () => {
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

test('an error in a chunk ends the response, with its message and status', () => {
  const error = { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '34.4s' }] }
  assert.equal(read([text('a'), { error }, stop]).last, {
    type: 'error',
    error: {
      kind: 'rate-limit',
      status: 429,
      message: 'slow down',
      code: 'RESOURCE_EXHAUSTED',
      retryAfterMs: 34_400,
      source: { status: 429, message: 'slow down', error },
    },
  })
})

test('reports the reason for a blocked prompt or response', () => {
  const finishes = (chunks: unknown[]) => {
    const { last } = read(chunks)
    return last?.type === 'end' ? last.finishes : []
  }
  assert.equal(finishes([{ promptFeedback: { blockReason: 'MODEL_ARMOR', blockReasonMessage: 'injection' } }]), [
    { reason: 'content-filter', explanation: 'injection' },
  ])
  assert.equal(finishes([text('a', { finishReason: 'SAFETY', finishMessage: 'hate' })]), [
    { reason: 'content-filter', raw: 'SAFETY', explanation: 'hate' },
  ])
  assert.equal(
    finishes([
      call({ name: 'f' }),
      text('', { finishReason: 'STOP', finishMessage: 'Model generated function call(s).' }),
    ]),
    [{ reason: 'tool-calls', raw: 'STOP' }],
  )
})

test("dropped calls to Google's own tools, and calls without a name, cause warnings", () => {
  const code = chunk([{ executableCode: { code: 'x' } }, { codeExecutionResult: {} }, { functionCall: { args: {} } }])
  assert.equal(read([code, text('a'), stop]).responseWarnings, [
    'dropped:answer.executableCode',
    'dropped:answer.codeExecutionResult',
    'dropped:answer.functionCall',
  ])
})

test("logprobs are attached to their chunk's text", () => {
  const logprobsResult = {
    chosenCandidates: [{ token: 'a', logProbability: -0.5, tokenId: 1 }],
    topCandidates: [{ candidates: [{ token: 'b', logProbability: -1 }] }],
  }
  const { events } = read([text('a', { logprobsResult }), stop])
  const delta = events.find((event) => event.type === 'part-delta')
  assert.equal(delta?.type === 'part-delta' && delta.logprobs, [
    { token: 'a', logprob: -0.5, topLogprobs: [{ token: 'b', logprob: -1 }] },
  ])
})

test('sources arrive in the last chunk, with byte offsets into the complete text', () => {
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
