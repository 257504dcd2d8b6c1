import type { UsageLimits, WindowLimits } from '../limits.ts'
import { kinds } from '../unions.ts'
import { choice, integer, list, map, type ObjectOf, object, type Shape, text } from './shapes.ts'

/* The limits and permissions that keys, groups, and the settings share. */

/** Creates the shape of a limit per window; at least one is required. */
function createWindowLimits(max: Shape<number>): Shape<WindowLimits> {
  const limitField = { shape: max, isOptional: true } as const
  const fields = {
    minute: limitField,
    hour: limitField,
    day: limitField,
    week: limitField,
    month: limitField,
    total: limitField,
  }
  return object(fields, { isNonEmpty: true })
}

const countShape = integer(1, Number.MAX_SAFE_INTEGER)
/** An amount in dollars. The maximum, in nano-dollars, is just below the largest safe integer. */
const dollarShape: Shape<number> = { type: 'number', above: 0, max: 9_007_199, isReadAsAmount: true }

const limitFields = {
  requests: { shape: createWindowLimits(countShape), isOptional: true },
  tokens: { shape: createWindowLimits(countShape), isOptional: true },
  usd: { shape: createWindowLimits(dollarShape), isOptional: true },
  parallel: { shape: countShape, isOptional: true },
} as const

/** Limits for a key, a group, or the gateway; at least one. */
export const usageLimits: Shape<UsageLimits & ObjectOf<typeof limitFields>> = object(limitFields, { isNonEmpty: true })

const namePattern = text({ isTrimmed: true, isNonEmpty: true, max: 512 })

/** Names of models, combos, and aliases; `*` matches any text. */
export const allowedModels = list(namePattern, { items: 'models', max: 1_000, isNonEmpty: true })

export const allowedKinds = list(choice(kinds), { items: 'kinds', max: kinds.length, isNonEmpty: true })

/** Your own strings by name, at most 16: names up to 64 characters, values up to 512. */
export const ownerMetadata = map({ name: text({ isNonEmpty: true, max: 64 }), of: text({ max: 512 }), max: 16 })

/** A guard's name. */
export const guardName = text({ pattern: /^(?!none$)[\w.-]{1,64}$/, form: 'guardName', isPathSegment: true })

/** Names of guards. */
export const guardNames = list(guardName, { items: 'guards', max: 100, isNonEmpty: true, isAllOrNothing: true })
