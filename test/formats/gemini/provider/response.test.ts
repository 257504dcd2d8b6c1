import type { JsonObject } from '../../../../src/lib/json.ts'
import { geminiTranslator } from '../../../../src/protocols/formats/gemini/gemini-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

function parse(body: JsonObject) {
  const { read, responseWarnings } = contexts(geminiTranslator)
  return { ...geminiTranslator.parseResponse(body, read), responseWarnings: responseWarnings.list() }
}

const { origin } = contexts(geminiTranslator).read
const state = { origin, kind: 'thought-signature', data: 's' } as const

const reading = suite('parsing Gemini responses')

reading("parses a response's content, ID, model, and usage", () => {
  const { responseWarnings, ...response } = parse({
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: 'hm', thought: true },
            { text: 'a' },
            { text: 'b', thoughtSignature: 's' },
            { text: 'c' },
            { functionCall: { name: 'f', args: { x: 1 } }, thoughtSignature: 's' },
            { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
            { inlineData: { mimeType: 'audio/L16;rate=24000', data: 'AAAA' } },
          ],
        },
        finishReason: 'STOP',
        finishMessage: 'Model generated function call(s).',
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3, serviceTier: 'standard' },
    modelVersion: 'gemini-x',
    responseId: 'r1',
  })
  assert.equal(response, {
    id: 'r1',
    model: 'gemini-x',
    choices: [
      {
        content: [
          { type: 'reasoning', text: 'hm', isSummary: true },
          { type: 'text', text: 'ab', state },
          { type: 'text', text: 'c' },
          { type: 'tool-call', id: 'call_id1', name: 'f', arguments: '{"x":1}', state },
          { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } },
          { type: 'audio', source: { type: 'base64', mediaType: 'audio/L16;rate=24000', data: 'AAAA' } },
        ],
        finish: { reason: 'tool-calls', raw: 'STOP' },
      },
    ],
    usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, reasoningTokens: 0 },
    serviceTier: 'default',
  })
  assert.equal(responseWarnings, [])
})

reading('text next to an unknown field is kept, but a part without text is dropped', () => {
  const { choices, responseWarnings } = parse({
    candidates: [
      {
        content: {
          parts: [
            { text: 'a', audioTimestamp: '1s' },
            { executableCode: { code: 'x' }, thoughtSignature: 's' },
          ],
        },
        finishReason: 'STOP',
      },
    ],
  })
  assert.equal(choices[0]?.content, [{ type: 'text', text: 'a' }])
  assert.equal(responseWarnings, ['dropped:answer.audioTimestamp', 'dropped:answer.executableCode'])
})

reading("a call between text and its sources doesn't separate them", () => {
  const { choices } = parse({
    candidates: [
      {
        content: { parts: [{ text: 'a é' }, { functionCall: { name: 'f' } }, { text: 'a é a' }] },
        finishReason: 'STOP',
        groundingMetadata: {
          groundingChunks: [{ web: { uri: 'https://a.com' } }],
          groundingSupports: [
            { segment: { partIndex: 2, startIndex: 5, endIndex: 6, text: 'a' }, groundingChunkIndices: [0] },
          ],
        },
        citationMetadata: { citations: [{}, { uri: 'https://b.com', startIndex: 2, endIndex: 4 }] },
      },
    ],
  })
  assert.equal(
    choices[0]?.content.map((part) => (part.type === 'text' ? part.citations : part.type)),
    [
      undefined,
      'tool-call',
      [
        { url: 'https://a.com', start: 4, end: 5 },
        { url: 'https://b.com', start: 2, end: 3 },
      ],
    ],
  )
})

reading('parses quoted sources under either field name', () => {
  for (const name of ['citationSources', 'citations']) {
    const { choices, responseWarnings } = parse({
      candidates: [
        {
          content: { parts: [{ text: 'a b' }] },
          finishReason: 'STOP',
          citationMetadata: { [name]: [{ startIndex: 2, endIndex: 3, uri: 'https://b.com', license: 'mit' }] },
        },
      ],
    })
    const citations = [{ url: 'https://b.com', start: 2, end: 3 }]
    assert.equal(choices[0]?.content, [{ type: 'text', text: 'a b', citations }])
    assert.equal(responseWarnings, [])
  }
})

reading('a blocked prompt becomes a response without content', () => {
  const { choices } = parse({ promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'no' }, usageMetadata: {} })
  assert.equal(choices, [{ content: [], finish: { reason: 'content-filter', explanation: 'no' } }])
})

for (const [name, reason, expected] of [
  ['SAFETY', 'SAFETY', 'content-filter'],
  ['an enum as a number', 2, 'length'],
  ['an unknown enum', 'NEW', 'stop'],
  ['none', undefined, 'stop'],
  ['a pause', 'CONTINUATION', 'pause'],
] as const)
  reading(`parses the finish reason: ${name}`, () => {
    assert.is(parse({ candidates: [{ content: {}, finishReason: reason }] }).choices[0]?.finish.reason, expected)
  })

reading('a malformed call without other content is a failure that can be retried', () => {
  const broken = {
    candidates: [{ content: {}, finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed: f(' }],
  }
  assert.throws(
    () => parse(broken),
    (error: { status?: number; message: string }) => error.status === 502 && /Malformed: f/.test(error.message),
  )
})

reading('a response without candidates is rejected', () => {
  assert.throws(() => parse({}), /without candidates/)
  assert.throws(() => parse({ candidates: [] }), /without candidates/)
  assert.throws(() => parse({ error: { code: 503, message: 'busy' } }), /busy/)
})
