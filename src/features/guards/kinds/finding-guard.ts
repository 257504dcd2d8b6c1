import type { JsonObject } from '../../../lib/json.ts'
import type { ClientFormat } from '../../../types.ts'
import type { Guard, GuardChange, GuardPart, GuardVerdict } from '../guard.ts'
import type { TextScreen } from '../text-screen.ts'
import { countTrailing } from './count-at-end.ts'
import { mask, unmask } from './masks.ts'
import type { Match } from './word-finder.ts'

/** A built-in guard. It checks text as soon as it arrives. */
export interface BuiltInGuard extends Guard {
  readonly isImmediate: true
  /** Returns how many characters at the end of a piece could be the start of a match. */
  measurePartialMatch?(text: string): number
  /** Set if the guard restores masked values in responses. Such a guard never rejects a response. */
  readonly restores?: true
  /** Set if the guard checks the complete arguments in tool calls. */
  readonly checksCalls?: true
  /** A quick scan that determines whether a request's text needs a check. */
  readonly screen?: TextScreen
  /** Changes a chat request's JSON after all checks. */
  rewrite?(json: string, format: ClientFormat): string
  /** The headers to add to provider calls. */
  readonly providerHeaders?: Readonly<Record<string, string>>
  /** Checks the entire request before its text is checked. */
  checkBody?(body: JsonObject, parts: readonly GuardPart[]): GuardVerdict | undefined
}

export const checksCalls = (guard: Guard): boolean => 'checksCalls' in guard

export const restoresMaskedValues = (guard: Guard): boolean => 'restores' in guard

/** Options for handling matches. */
export interface FindingOptions {
  /**
   * `refuse` (the default) rejects the content. `mask` sends a placeholder to the model and restores the original wherever the model repeats the
   * placeholder. `replace` permanently replaces the text with a label such as `[EMAIL]`. `remove` deletes it.
   */
  readonly action?: 'refuse' | 'mask' | 'replace' | 'remove'
}

interface Finder {
  find(part: GuardPart): readonly Match[]
  measurePartialMatch(text: string): number
  readonly screen?: TextScreen
  /** Match types that are never restored. */
  readonly unrestorableTypes?: ReadonlySet<string>
}

/** Creates a guard from a finder. */
export function createFindingGuard(
  { name, action = 'refuse', ...options }: Pick<Guard, 'name'> & Partial<Guard> & FindingOptions,
  { measurePartialMatch, screen, unrestorableTypes = new Set(), ...finder }: Finder,
): BuiltInGuard {
  const find = (part: GuardPart) => findInContext(part, finder.find)
  const guard = { ...options, name, isImmediate: true as const, ...(screen && { screen }) }
  if (action === 'refuse')
    return {
      ...guard,
      measurePartialMatch,
      check({ parts }) {
        const ids: string[] = []
        let category: string | undefined
        for (const part of parts) {
          const [firstMatch] = find(part)
          if (!firstMatch) continue
          ids.push(part.id)
          category ??= firstMatch.type.toLowerCase()
        }
        return category === undefined ? undefined : { verdict: 'refuse', category, ids }
      },
    }
  const findAllMatches = (parts: readonly GuardPart[]) =>
    parts.flatMap((part) => removeOverlaps(find(part)).map((match) => ({ part, ...match })))
  if (action === 'mask')
    return {
      ...guard,
      changes: true,
      restores: true,
      measurePartialMatch: (text) => countTrailing(text, (unit) => /[a-z0-9-]/i.test(unit), 32),
      check({ parts, stage }, { memory, request }) {
        const isReasoningSigned = request.format === 'anthropic-messages' // providers reject modified reasoning, which is signed
        const changeableParts = parts.filter(({ kind }) => !isReasoningSigned || kind !== 'reasoning')
        const scope = request.key?.id ?? request.account?.id ?? ''
        const changes =
          stage === 'request'
            ? mask(parts, findAllMatches(changeableParts), { memory, scope, unrestorableTypes })
            : unmask(changeableParts, memory)
        return { verdict: 'change', changes }
      },
    }
  return {
    ...guard,
    changes: true,
    measurePartialMatch,
    check: ({ parts }) => ({
      verdict: 'change',
      changes: findAllMatches(parts).map(
        ({ part, start, end, type }): GuardChange => ({
          ...{ id: part.id, start, end },
          text: action === 'remove' ? '' : `[${type}]`,
        }),
      ),
    }),
  }
}

/** Finds matches in a part, including those that start in the text before it. */
function findInContext(part: GuardPart, find: Finder['find']): readonly Match[] {
  const { text, before = '', starts = [] } = part
  if (before === '') return find(part)
  const joinedMatches = find({ ...part, text: before + text }).flatMap(({ start, end, type }) =>
    end > before.length ? [{ start: Math.max(start - before.length, 0), end: end - before.length, type }] : [],
  )
  return starts.includes(before.length) ? [...joinedMatches, ...find({ ...part, starts: [] })] : joinedMatches
}

/** Resolves overlaps: keeps the match that starts first, or the longest of those that start at the same position. */
function removeOverlaps(matches: readonly Match[]): Match[] {
  let end = 0
  return [...matches]
    .sort((a, b) => a.start - b.start || b.end - a.end)
    .filter((match) => {
      if (match.start < end) return false
      end = match.end
      return true
    })
}
