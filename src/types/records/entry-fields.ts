import type { EntryParams } from '../combo.ts'
import { efforts } from '../unions.ts'
import { choice, integer, list, map, type NumberShape, object, type Shape, text } from './shapes.ts'

const createRange = (min: number, max: number): { shape: Shape<number> & NumberShape; isOptional: true } => ({
  shape: { type: 'number', min, max },
  isOptional: true,
})
const whole = (min: number, max: number) => ({ shape: integer(min, max), isOptional: true }) as const

const literal = text({ isLiteral: true, max: 200 })

/** The parameters that a combo entry sets in requests. */
export const entryParams: Shape<EntryParams> = object({
  maxTokens: whole(1, 10_000_000),
  temperature: createRange(0, 2),
  topP: createRange(0, 1),
  topK: whole(1, 10_000_000),
  stopSequences: {
    shape: list(literal, { items: 'texts', max: 16, isNonEmpty: true }),
    isOptional: true,
  },
  seed: whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  presencePenalty: createRange(-2, 2),
  frequencyPenalty: createRange(-2, 2),
  reasoning: { shape: choice(efforts), isOptional: true },
})

/** The provider's voices, by the names that clients use. */
export const voices = map({ name: literal, of: literal, max: 200 })
