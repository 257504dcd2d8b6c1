import fc from 'fast-check'
import type { AssistantPart, ToolCallPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { OpaqueState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'

/** A nonempty text. */
export const words = fc.string({ unit: 'grapheme', minLength: 1 })
/** A value, or `undefined`. */
export const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
/** The JSON of an object. */
export const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.stringify(value))
/** Nonempty base64. */
const base64 = fc.base64String({ minLength: 4, maxLength: 40 })

/** Drops undefined fields. */
export const plain = <T>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } => JSON.parse(JSON.stringify(value))

/** The origin of opaque state in these tests. */
export const origin = { format: 'gemini', account: 'v/1' } as const
/** A thought signature of that origin, in either alphabet of base64. */
export const state = fc
  .record({
    origin: fc.constant(origin),
    kind: fc.constant('thought-signature' as const),
    data: fc.constantFrom('c2ln', 'EpYS_-=='),
  })
  .map((value): OpaqueState => value)

/** A file in base64, of one media type. */
export const media = (mediaType: string) =>
  fc.record({ type: fc.constant('base64' as const), mediaType: fc.constant(mediaType), data: base64 })

/** Consecutive texts are joined, so each ends with a signature or before another kind of part. */
export const saidPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: fc.oneof(words, fc.constant('')), state }),
  fc.record({
    type: fc.constant('reasoning' as const),
    text: fc.oneof(words, fc.constant('')),
    isSummary: fc.constant(true as const),
    state,
  }),
  fc.record({ type: fc.constant('image' as const), source: media('image/webp'), state: optional(state) }).map(plain),
)

/** One to three tool calls, with IDs that count from `firstId`. */
export const calls = (firstId: number) =>
  fc
    .array(fc.record({ arguments: json, state: optional(state) }), { minLength: 1, maxLength: 3 })
    .map((list) =>
      list.map(
        (call, index): ToolCallPart =>
          plain({ type: 'tool-call', id: `c${firstId + index}`, name: `f.${index}`, ...call }),
      ),
    )
