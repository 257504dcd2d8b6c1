import { encodeUtf8, toBase64 } from '../../../../src/lib/bytes.ts'
import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { RequestOptions } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import type { CanonicalResponse } from '../../../../src/protocols/formats/canonical/canonical-response.ts'
import { sealState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'
import { geminiTranslator } from '../../../../src/protocols/formats/gemini/gemini-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const writing = suite('writing responses for Gemini clients')

function write(response: Partial<CanonicalResponse> & { content?: AssistantPart[] }, options: RequestOptions = {}) {
  const { content = [], ...rest } = response
  const { write: context } = contexts(geminiTranslator)
  const choices = [{ content, finish: { reason: 'stop' } as const }]
  return Object(geminiTranslator.writeResponse({ choices, ...rest }, context({ options })))
}

const getParts = (content: AssistantPart[], options?: RequestOptions) =>
  write({ content }, options).candidates[0].content.parts

const foreign = { origin: { format: 'anthropic-messages', account: 'v/1' }, kind: 'signature', data: 'sig' } as const
const thoughtSignature = toBase64(encodeUtf8(sealState(foreign)))

writing('writes a response with all its content and separate reasoning token counts', () => {
  const call: AssistantPart = { type: 'tool-call', id: 'c', name: 'f', arguments: '{"x":1}' }
  const response = write({
    choices: [{ content: [{ type: 'text', text: 'a' }, call], finish: { reason: 'tool-calls' } }],
    usage: { inputTokens: 10, outputTokens: 8, cacheReadTokens: 4, reasoningTokens: 3 },
  })
  assert.equal(response, {
    candidates: [
      {
        content: { role: 'model', parts: [{ text: 'a' }, { functionCall: { id: 'c', name: 'f', args: { x: 1 } } }] },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    usageMetadata: {
      ...{ promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 5, thoughtsTokenCount: 3 },
      totalTokenCount: 18,
    },
    modelVersion: 'm',
    responseId: 'id1',
  })
})

writing("another vendor's state is encrypted and stays on its part", () => {
  const content: AssistantPart[] = [
    { type: 'reasoning', text: 'hm', state: foreign },
    { type: 'reasoning', text: '', state: foreign },
    { type: 'text', text: 'a', state: foreign },
    { type: 'tool-call', id: 'c', name: 'f', arguments: '', state: foreign },
  ]
  assert.equal(getParts(content), [
    { text: 'hm', thought: true, thoughtSignature },
    { text: '', thought: true, thoughtSignature },
    { text: 'a', thoughtSignature },
    { functionCall: { id: 'c', name: 'f', args: {} }, thoughtSignature },
  ])
})

writing("writes a free-form tool's input as an argument", () => {
  const call: AssistantPart = { type: 'tool-call', id: 'c', name: 'f', arguments: 'abc', isFreeForm: true }
  assert.equal(getParts([call]), [{ functionCall: { id: 'c', name: 'f', args: { input: 'abc' } } }])
})

writing('drops hidden reasoning, but keeps its signatures', () => {
  const content: AssistantPart[] = [
    { type: 'reasoning', text: 'hm' },
    { type: 'reasoning', text: 'hm', state: foreign },
    { type: 'text', text: 'a' },
  ]
  assert.equal(getParts(content, { reasoning: { show: 'none' } }), [
    { text: '', thought: true, thoughtSignature },
    { text: 'a' },
  ])
})

writing('a response without content gets an empty text part, because clients drop empty turns', () => {
  assert.equal(getParts([]), [{ text: '' }])
})

writing("a refusal becomes text with the content filter's finish reason", () => {
  const { candidates } = write({ content: [{ type: 'refusal', text: 'no' }] })
  assert.equal([candidates[0].content.parts, candidates[0].finishReason], [[{ text: 'no' }], 'SAFETY'])
})

for (const [reason, expected] of [
  ['length', 'MAX_TOKENS'],
  ['context-window', 'MAX_TOKENS'],
  ['stop-sequence', 'STOP'],
  ['content-filter', 'SAFETY'],
  ['pause', 'CONTINUATION'],
  ['malformed-call', 'MALFORMED_FUNCTION_CALL'],
] as const)
  writing(`the finish reason for ${reason} is ${expected}`, () => {
    const { candidates } = write({ choices: [{ content: [], finish: { reason, explanation: 'why' } }] })
    assert.equal([candidates[0].finishReason, candidates[0].finishMessage], [expected, 'why'])
  })

writing('writes sources once, with positions in bytes', () => {
  const { candidates } = write({
    content: [
      { type: 'server-tool', tool: 'web-search', id: 's', query: 'what', results: [] },
      { type: 'text', text: 'é', citations: [{ url: 'https://a.com', title: 'A' }] },
      {
        type: 'text',
        text: 'é😀b',
        citations: [
          { url: 'https://a.com', title: 'A', start: 1, end: 4 },
          { title: 'B', quote: 'q', start: 0, end: 1 },
        ],
      },
    ],
  })
  assert.equal(candidates[0].groundingMetadata, {
    groundingChunks: [{ web: { uri: 'https://a.com', title: 'A' } }, { retrievedContext: { title: 'B', text: 'q' } }],
    groundingSupports: [
      { groundingChunkIndices: [0] },
      { segment: { partIndex: 1, startIndex: 2, endIndex: 7, text: '😀b' }, groundingChunkIndices: [0] },
      { segment: { partIndex: 1, startIndex: 0, endIndex: 2, text: 'é' }, groundingChunkIndices: [1] },
    ],
    webSearchQueries: ['what'],
  })
})

writing('writes a quoted web page like any other web page', () => {
  const page = { uri: 'https://a.com', title: 'A' }
  const { candidates } = write({
    content: [{ type: 'text', text: 'a', citations: [{ url: page.uri, title: page.title, quote: 'q' }] }],
  })
  assert.equal(candidates[0].groundingMetadata.groundingChunks, [
    { web: page, retrievedContext: { ...page, text: 'q' } },
  ])
})

writing('writes images, audio, and logprobs', () => {
  const { candidates } = write({
    content: [
      { type: 'text', text: 'a', logprobs: [{ token: 'a', logprob: -1, topLogprobs: [] }] },
      { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } },
      { type: 'audio', source: { type: 'base64', mediaType: 'audio/wav', data: 'UklG' }, id: 'x', transcript: 't' },
    ],
  })
  assert.equal(candidates[0].content.parts.slice(1), [
    { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
    { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
  ])
  assert.equal(candidates[0].logprobsResult, { chosenCandidates: [{ token: 'a', logProbability: -1 }] })
})

writing('truncated call arguments are kept as `_raw`', () => {
  assert.equal(getParts([{ type: 'tool-call', id: 'c', name: 'f', arguments: '{"path":"/tm' }]), [
    { functionCall: { id: 'c', name: 'f', args: { _raw: '{"path":"/tm' } } },
  ])
})
