import fc from 'fast-check'
import type { AssistantPart, ToolCallPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { OpaqueState } from '../../../../src/protocols/formats/canonical/canonical-state.ts'

/** Generates non-empty text. */
export const words = fc.string({ unit: 'grapheme', minLength: 1 })
/** Generates a value, or `undefined`. */
export const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
/** Generates the JSON of an object. */
export const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.stringify(value))
/** Generates non-empty base64. */
const base64 = fc.base64String({ minLength: 4, maxLength: 40 })

/** Drops fields that are `undefined`. */
export const plain = <T>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } => JSON.parse(JSON.stringify(value))

/** The origin of the opaque state in these tests. */
export const origin = { format: 'gemini', account: 'v/1' } as const
/** Generates a thought signature of that origin, in either base64 alphabet. */
export const state = fc
  .record({
    origin: fc.constant(origin),
    kind: fc.constant('thought-signature' as const),
    data: fc.constantFrom('c2ln', 'EpYS_-=='),
  })
  .map((value): OpaqueState => value)

/** Generates a base64 file of a given media type. */
export const media = (mediaType: string) =>
  fc.record({ type: fc.constant('base64' as const), mediaType: fc.constant(mediaType), data: base64 })

/** Generates assistant parts. Consecutive texts are joined, so each text ends with a signature or precedes another kind of part. */
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

/** Generates one to three tool calls with sequential IDs that start at `firstId`. */
export const getCalls = (firstId: number) =>
  fc
    .array(fc.record({ arguments: json, state: optional(state) }), { minLength: 1, maxLength: 3 })
    .map((list) =>
      list.map(
        (call, index): ToolCallPart =>
          plain({ type: 'tool-call', id: `c${firstId + index}`, name: `f.${index}`, ...call }),
      ),
    )
