import type { EntryParams } from '../combo.ts'
import { efforts } from '../unions.ts'
import { choice, integer, list, map, type NumberShape, object, type Shape, text } from './shapes.ts'

const createNumberField = (min: number, max: number): { shape: Shape<number> & NumberShape; isOptional: true } => ({
  shape: { type: 'number', min, max },
  isOptional: true,
})
const createIntegerField = (min: number, max: number) => ({ shape: integer(min, max), isOptional: true }) as const

const literalText = text({ isLiteral: true, max: 200 })

/** The parameters that a combo entry sets in requests. */
export const entryParams: Shape<EntryParams> = object({
  maxTokens: createIntegerField(1, 10_000_000),
  temperature: createNumberField(0, 2),
  topP: createNumberField(0, 1),
  topK: createIntegerField(1, 10_000_000),
  stopSequences: {
    shape: list(literalText, { items: 'texts', max: 16, isNonEmpty: true }),
    isOptional: true,
  },
  seed: createIntegerField(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  presencePenalty: createNumberField(-2, 2),
  frequencyPenalty: createNumberField(-2, 2),
  reasoning: { shape: choice(efforts), isOptional: true },
})

/** The provider's voices, by the names that clients use. */
export const voices = map({ name: literalText, of: literalText, max: 200 })
