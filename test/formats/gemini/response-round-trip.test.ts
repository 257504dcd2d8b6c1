import fc from 'fast-check'
import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import type { AssistantPart } from '../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalResponse } from '../../../src/protocols/formats/canonical/canonical-response.ts'
import { geminiTranslator } from '../../../src/protocols/formats/gemini/gemini-translator.ts'
import { translateStream } from '../../../src/protocols/formats/translate-stream.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { getCalls, optional, plain, saidPart, words } from './support/arbitraries.ts'

const test = suite('Gemini response round trips')

const usage = fc
  .record({
    inputTokens: fc.integer({ min: 1, max: 99 }),
    thoughts: fc.nat(9),
    said: fc.integer({ min: 1, max: 9 }),
    cacheReadTokens: fc.nat(9),
  })
  .map(({ inputTokens, thoughts, said, cacheReadTokens }) => ({
    ...{ inputTokens, outputTokens: thoughts + said, cacheReadTokens, reasoningTokens: thoughts },
  }))

/** Text before and after a citation. */
const cited = fc.tuple(words, words, words).map(
  ([before, middle, after]): AssistantPart => ({
    type: 'text',
    text: before + middle + after,
    citations: [
      { url: 'https://a.com', title: 'A', start: before.length, end: before.length + middle.length },
      { url: 'https://b.com', quote: 'q' },
      { title: 'C' },
    ],
  }),
)

const choice = fc
  .record({
    said: fc.array(saidPart),
    cited: fc.option(cited, { nil: undefined }),
    calls: fc.oneof(fc.constant([]), getCalls(0)),
    finish: fc.constantFrom('stop', 'length', 'content-filter', 'pause'),
  })
  .map(({ said, cited: text, calls: created, finish }) => ({
    content: [...said, ...(text ? [text] : []), ...created],
    finish: { reason: finish === 'stop' && created.length > 0 ? 'tool-calls' : finish },
  }))

const response = fc.record({ choices: fc.array(choice, { minLength: 1, maxLength: 2 }), usage: optional(usage) }).map(
  (fields) => plain(fields) as CanonicalResponse, // its literals have the type's values
)

/** Drops Google's own finish reason, and state, which is sealed for clients and returns only to the gateway. */
const withoutState = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (name, inner) => (name === 'state' || name === 'raw' ? undefined : inner)))

/** Normalizes IDs within each candidate, because each candidate has its own calls. */
const numbered = (value: CanonicalResponse): CanonicalResponse => ({
  ...value,
  choices: value.choices.map((each, index) => ({
    ...each,
    content: each.content.map((part) => (part.type === 'tool-call' ? { ...part, id: `${part.id}-${index}` } : part)),
  })),
})

test('writing and reparsing a response preserves its meaning', () => {
  const { read, write } = contexts(geminiTranslator)
  fc.assert(
    fc.property(response.map(numbered), (input) => {
      const { choices, usage: tokens } = geminiTranslator.parseResponse(
        plain(geminiTranslator.writeResponse(input, write())),
        read,
      )
      assert.equal(withoutState({ choices, usage: tokens }), withoutState(input))
    }),
    { numRuns: 50 },
  )
})

test('parsing a stream, wherever it is split, gives the same text as the complete response', () => {
  fc.assert(
    fc.property(response.map(numbered), fc.integer({ min: 1, max: 60 }), (input, size) => {
      const { read, write } = contexts(geminiTranslator)
      const { candidates, ...rest } = Object(geminiTranslator.writeResponse(input, write()))
      const sse = [{ candidates, ...rest }].map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join('')
      const chunks: string[] = []
      const sides = {
        from: geminiTranslator,
        to: geminiTranslator,
        readerContext: read,
        writerContext: write({ options: { candidates: 2 } }),
      }
      const stream = translateStream(sides, (event) => chunks.push(event))
      const bytes = encodeUtf8(sse)
      for (let index = 0; index < bytes.length; index += size) stream.push(bytes.subarray(index, index + size))
      stream.end()
      const result = chunks.map((chunk) => JSON.parse(chunk.slice('data: '.length)))
      const getText = (
        list: { candidates: { index: number; content: { parts: { text?: string; functionCall?: object }[] } }[] }[],
      ) =>
        input.choices.map((_, index) =>
          list
            .flatMap((chunk) => chunk.candidates.filter((candidate) => candidate.index === index))
            .flatMap(({ content }) => content.parts.map((part) => part.text ?? JSON.stringify(part.functionCall ?? '')))
            .join(''),
        )
      assert.equal(getText(result), getText([{ candidates }]))
    }),
    { numRuns: 40 },
  )
})
