import { hashText } from '../../../lib/hash.ts'
import { tryParseJson } from '../../../lib/json.ts'
import type { GuardChange, GuardPart } from '../guard.ts'
import type { Match } from './word-finder.ts'

/** A request's placeholders. */
interface Masks {
  tag: string
  readonly counts: Map<string, number>
  readonly placeholders: Map<string, string>
  /** Values by lowercase placeholder. Excludes values that are never restored. */
  readonly values: Map<string, string>
}

interface MaskOptions {
  memory: Map<unknown, unknown>
  /** The owner of the text. The placeholders in all of an owner's requests have the same tag. */
  scope: string
  unrestorableTypes: ReadonlySet<string>
}

const MASKS_KEY = Symbol('masks')

/**
 * Replaces matches with placeholders, such as `EMAIL-1-k7q2`. Placeholders are numbered in order across the entire request, so the start of a growing
 * conversation never changes, and providers' prompt caches keep working. Equal values share a placeholder.
 */
export function mask(
  parts: readonly GuardPart[],
  matches: ReadonlyArray<Match & { part: GuardPart }>,
  { memory, scope, unrestorableTypes }: MaskOptions,
): GuardChange[] {
  const masks = (memory.get(MASKS_KEY) as Masks | undefined) ?? createMasks(parts, scope)
  memory.set(MASKS_KEY, masks)
  return matches.map(({ part, start, end, type }) => {
    const value = part.text.slice(start, end)
    const placeholder = masks.placeholders.get(`${type} ${value}`)
    if (placeholder !== undefined) return { id: part.id, start, end, text: placeholder }
    const number = (masks.counts.get(type) ?? 0) + 1
    const text = `${type}-${number}-${masks.tag}`
    masks.counts.set(type, number)
    masks.placeholders.set(`${type} ${value}`, text)
    if (!unrestorableTypes.has(type)) masks.values.set(text.toLowerCase(), value)
    return { id: part.id, start, end, text }
  })
}

/** Picks a tag that doesn't occur in the strings, so nothing in them is mistaken for one of our placeholders. */
function createMasks(parts: readonly GuardPart[], scope: string): Masks {
  let tag = ''
  for (let attempt = 0; tag === '' || parts.some(({ text }) => text.toLowerCase().includes(`-${tag}`)); attempt++)
    tag = (hashText(`${scope} ${attempt}`) % 36 ** 4).toString(36).padStart(4, '0')
  return { tag, counts: new Map(), placeholders: new Map(), values: new Map() }
}

/** Restores values where the model repeats their placeholders, in any letter case. */
export function unmask(parts: readonly GuardPart[], memory: Map<unknown, unknown>): GuardChange[] {
  const masks = memory.get(MASKS_KEY) as Masks | undefined
  if (!masks || masks.values.size === 0) return []
  return parts.flatMap((part) => {
    const isJson = part.kind === 'tool-call' && /^\s*[[{]/.test(part.text) && tryParseJson(part.text) !== undefined
    return [...part.text.matchAll(PLACEHOLDER_PATTERN)].flatMap((match): GuardChange[] => {
      const value = masks.values.get(match[0].toLowerCase())
      if (value === undefined) return []
      const text = isJson ? JSON.stringify(value).slice(1, -1) : value
      return [{ id: part.id, start: match.index, end: match.index + match[0].length, text }]
    })
  })
}

/** Matches anything that looks like a placeholder. `unmask` checks whether it is one of ours. */
const PLACEHOLDER_PATTERN = /(?<![A-Z0-9])[A-Z][A-Z0-9]{0,15}-\d{1,6}-[a-z0-9]{4}(?![A-Z0-9])/gi
