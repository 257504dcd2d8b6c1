import type { StoredRequest } from '../page-request.ts'

type GuardResult = NonNullable<StoredRequest['guards']>[number]

const verdictLabels: Readonly<Record<GuardResult['verdict'], string>> = {
  pass: 'passed',
  change: 'changed',
  refuse: 'rejected',
  answer: 'answered',
  failed: 'failed',
  'failed-open': 'failed, passed',
}

interface GuardReferences {
  guards?: readonly string[]
}

/** Lists the guards that the settings, groups, keys, or combos use. No other guard checks a request, unless the client requests it. */
export const listUsedGuards = (records: readonly GuardReferences[]): ReadonlySet<string> =>
  new Set(records.flatMap(({ guards }) => guards ?? []))

/** Describes the state of a guard that has no problems. */
export const describeState = (
  { name, mode }: { name: string; mode?: 'enforce' | 'watch' },
  usedGuards: ReadonlySet<string>,
): { kind: 'good' | 'warn' | 'off'; label: string } => {
  if (!usedGuards.has(name)) return { kind: 'off', label: 'Not used' }
  return mode === 'watch' ? { kind: 'warn', label: 'Watching' } : { kind: 'good', label: 'Enforced' }
}

/** Describes a guard's verdict, such as "rejected (word)". */
export const describeVerdict = (
  { verdict, isWatched }: Pick<GuardResult, 'verdict' | 'isWatched'>,
  category?: string,
): string =>
  `${verdictLabels[verdict]}${category ? ` (${category})` : ''}${isWatched && verdict !== 'pass' ? ', not enforced' : ''}`
