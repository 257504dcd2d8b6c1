import type { JsonObject } from '../../../lib/json.ts'
import type { ClientFormat } from '../../../types.ts'
import type { Guard, GuardChange, GuardPart, GuardVerdict } from '../guard.ts'
import type { TextScreen } from '../text-screen.ts'
import { countAtEnd } from './count-at-end.ts'
import { mask, unmask } from './masks.ts'
import type { Match } from './word-finder.ts'

/** A built-in guard. It checks text as soon as it arrives. */
export interface BuiltInGuard extends Guard {
  readonly isImmediate: true
  /** Returns how many characters at the end of a piece could be the start of a match. */
  countUnfinished?(text: string): number
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

export const isRestoring = (guard: Guard): boolean => 'restores' in guard

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
  countUnfinished(text: string): number
  readonly screen?: TextScreen
  /** Match types that are never restored. */
  readonly neverRestored?: ReadonlySet<string>
}

/** Creates a guard from a finder. */
export function createFindingGuard(
  { name, action = 'refuse', ...options }: Pick<Guard, 'name'> & Partial<Guard> & FindingOptions,
  { countUnfinished, screen, neverRestored = new Set(), ...finder }: Finder,
): BuiltInGuard {
  const find = (part: GuardPart) => findAfter(part, finder.find)
  const guard = { ...options, name, isImmediate: true as const, ...(screen && { screen }) }
  if (action === 'refuse')
    return {
      ...guard,
      countUnfinished,
      check({ parts }) {
        const ids: string[] = []
        let category: string | undefined
        for (const part of parts) {
          const [first] = find(part)
          if (!first) continue
          ids.push(part.id)
          category ??= first.type.toLowerCase()
        }
        return category === undefined ? undefined : { verdict: 'refuse', category, ids }
      },
    }
  const findAll = (parts: readonly GuardPart[]) =>
    parts.flatMap((part) => withoutOverlaps(find(part)).map((match) => ({ part, ...match })))
  if (action === 'mask')
    return {
      ...guard,
      changes: true,
      restores: true,
      countUnfinished: (text) => countAtEnd(text, (unit) => /[a-z0-9-]/i.test(unit), 32),
      check({ parts, stage }, { memory, request }) {
        const isSigned = request.format === 'anthropic-messages' // providers reject modified reasoning, which is signed
        const unsigned = parts.filter(({ kind }) => !isSigned || kind !== 'reasoning')
        const scope = request.key?.id ?? request.account?.id ?? ''
        const changes =
          stage === 'request'
            ? mask(parts, findAll(unsigned), { memory, scope, neverRestored })
            : unmask(unsigned, memory)
        return { verdict: 'change', changes }
      },
    }
  return {
    ...guard,
    changes: true,
    countUnfinished,
    check: ({ parts }) => ({
      verdict: 'change',
      changes: findAll(parts).map(
        ({ part, start, end, type }): GuardChange => ({
          ...{ id: part.id, start, end },
          text: action === 'remove' ? '' : `[${type}]`,
        }),
      ),
    }),
  }
}

/** Finds matches in a part, including those that start in the text before it. */
function findAfter(part: GuardPart, find: Finder['find']): readonly Match[] {
  const { text, before = '', starts = [] } = part
  if (before === '') return find(part)
  const joined = find({ ...part, text: before + text }).flatMap(({ start, end, type }) =>
    end > before.length ? [{ start: Math.max(start - before.length, 0), end: end - before.length, type }] : [],
  )
  return starts.includes(before.length) ? [...joined, ...find({ ...part, starts: [] })] : joined
}

/** Resolves overlaps: keeps the match that starts first, or the longest of those that start at the same position. */
function withoutOverlaps(matches: readonly Match[]): Match[] {
  let end = 0
  return [...matches]
    .sort((a, b) => a.start - b.start || b.end - a.end)
    .filter((match) => {
      if (match.start < end) return false
      end = match.end
      return true
    })
}
