import fc from 'fast-check'
import type {
  AssistantPart,
  CacheBreakpoint,
  Citation,
  FilePart,
  ImagePart,
  TextPart,
  ToolCallPart,
  UserPart,
} from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest, RequestOptions } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import type { Finish } from '../../../../src/protocols/formats/canonical/canonical-response.ts'
import type { Tool, ToolChoice } from '../../../../src/protocols/formats/canonical/canonical-tools.ts'
import type { ToolResult, Turn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import { omitUndefined } from '../../../../src/protocols/formats/canonical/canonical-values.ts'

/** Generates objects in which some fields may be missing. */
const some = <T extends object>(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<T> =>
  fc.record(fields).map((record) => omitUndefined(record) as T) // the caller specifies the type of these fields
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
export const list = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { minLength: 1, maxLength: 3 })

const words = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => `${text}.`)
const id = fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/)
const cache = maybe(fc.constantFrom<CacheBreakpoint[]>({}, { ttl: '5m' }, { ttl: '1h' }))
const json = fc.dictionary(words, fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.parse(JSON.stringify(value)))

const span = fc.tuple(fc.nat(), fc.nat()).map(([start, length]) => ({ start, end: start + length }))
const citation = fc
  .tuple(fc.nat(9), fc.constantFrom('character' as const, 'page' as const, 'block' as const), span, words, maybe(words))
  .map(([document, unit, place, quote, title]) =>
    omitUndefined<Citation>({ document, position: { unit, ...place }, quote, title }),
  )
const text = some<TextPart>({ type: fc.constant('text'), text: words, cache })
const cited = { type: fc.constant('text'), text: words, citations: maybe(list(citation)) }
const url = fc.webUrl().map((address) => ({ type: 'url' as const, url: address }))
const fileId = id.map((named) => ({ type: 'file-id' as const, id: named, format: 'anthropic-messages' as const }))
const image = some<ImagePart>({ type: fc.constant('image'), source: fc.oneof(url, fileId), cache })
const plain = words.map((modelOutput) => ({ type: 'text' as const, mediaType: 'text/plain', text: modelOutput }))
const pdf = fc.constant({ type: 'base64' as const, mediaType: 'application/pdf', data: 'JVBERi0xLjQK' })
const file = some<FilePart>({
  ...{ type: fc.constant('file'), source: fc.oneof(url, fileId, plain, pdf), cache },
  ...{ name: maybe(words), context: maybe(words), citable: maybe(fc.constant(true)) },
})
const modelOutput: fc.Arbitrary<UserPart> = fc.oneof(text, image, file)

const origin = { format: 'anthropic-messages', account: '' } as const
const signed = fc.tuple(fc.oneof(words, fc.constant('')), words).map(
  ([thought, data]): AssistantPart => ({
    type: 'reasoning',
    text: thought,
    state: { origin, kind: 'signature', data },
  }),
)
const redacted = words.map(
  (data): AssistantPart => ({ type: 'reasoning', text: '', state: { origin, kind: 'redacted', data } }),
)
const call = { type: fc.constant('tool-call'), id, name: id, arguments: json.map((value) => JSON.stringify(value)) }
/** Generates parts of a model turn. Only requests have cache breakpoints. */
export const reply = fc.oneof<fc.Arbitrary<AssistantPart>[]>(
  some<TextPart>(cited),
  signed,
  redacted,
  some<ToolCallPart>(call),
)
/** Generates the same parts without opaque state. */
export const plainReply = fc.oneof<fc.Arbitrary<AssistantPart>[]>(some<TextPart>(cited), some<ToolCallPart>(call))
const marked = fc.oneof<fc.Arbitrary<AssistantPart>[]>(
  some<TextPart>({ ...cited, cache }),
  signed,
  redacted,
  some<ToolCallPart>({ ...call, cache }),
)

const toolResult = some<ToolResult>({
  ...{ callId: id, content: fc.array(modelOutput, { maxLength: 2 }), isError: maybe(fc.constant(true)), cache },
})
/** Generates turns, with turns of other roles before and after each assistant turn. */
const exchange = fc
  .tuple(list(marked), maybe(list(toolResult)), maybe(list(modelOutput)))
  .map(([content, results, extra]): Turn[] => [
    { role: 'assistant', content },
    ...(results ? [{ role: 'tool' as const, results }] : []),
    ...(extra || !results
      ? [{ role: 'user' as const, content: extra ?? [{ type: 'text' as const, text: 'so?' }] }]
      : []),
  ])
const turns = fc
  .tuple(fc.array(text, { maxLength: 2 }), list(modelOutput), fc.array(exchange, { maxLength: 3 }))
  .map(([system, first, rest]): Turn[] => [
    ...system.map((part): Turn => ({ role: 'system', sentAs: 'instructions', content: [part] })),
    { role: 'user', content: first },
    ...rest.flat(),
  ])

const tool = some<Tool & { type: 'function' }>({
  ...{ type: fc.constant('function'), name: id, description: maybe(words), cache },
  schema: json.map((value) => ({ ...value, type: 'object' })),
})
const toolChoice = fc.oneof<fc.Arbitrary<ToolChoice>[]>(
  fc.constantFrom({ type: 'auto' }, { type: 'required' }),
  id.map((name) => ({ type: 'tool', name })),
)
const thoughts = fc.constantFrom<NonNullable<RequestOptions['reasoning']>[]>(
  { effort: 'none' },
  { budget: 'auto' },
  { effort: 'high', budget: 'auto', show: 'none' },
  { effort: 'max', budget: 'auto', show: 'summary' },
)
const options = some<RequestOptions>({
  ...{ maxOutputTokens: fc.integer({ min: 1, max: 99_999 }), stop: maybe(list(words)), endUser: maybe(id) },
  ...{ reasoning: maybe(thoughts), serviceTier: maybe(fc.constantFrom('auto' as const, 'default', 'fast')) },
  ...{ cacheOptions: cache.map((auto) => auto && { auto }), parallelToolCalls: maybe(fc.constant(false)) },
})
const output = json.map((properties) => ({
  ...{ type: 'json-schema' as const },
  schema: {
    ...{
      type: 'object',
      properties: Object.fromEntries(Object.keys(properties).map((key) => [key, { type: 'string' }])),
    },
    additionalProperties: false,
  },
}))
/** Generates requests that only use this format's features. */
export const request = some<CanonicalRequest>({
  ...{ model: fc.constant('m'), stream: fc.boolean(), streamUsage: fc.constant(true), turns, options },
  ...{ tools: list(tool), toolChoice, output: maybe(output) },
})

const finishes: Finish[] = [
  ...[{ reason: 'length' } as const, { reason: 'context-window' } as const, { reason: 'pause' } as const],
  { reason: 'content-filter', explanation: 'no' },
  { reason: 'stop-sequence', stopSequence: 'END' },
]
/** Generates finish reasons that don't depend on the content. */
export const finish = fc.constantFrom(...finishes)
const numbers = fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat(), fc.nat())
export const usage = numbers.map(([input, output, read, write, reasoning]) => ({
  ...{ inputTokens: input + read + write, outputTokens: output, cacheReadTokens: read },
  ...{ cacheWriteTokens: write, reasoningTokens: reasoning },
}))
