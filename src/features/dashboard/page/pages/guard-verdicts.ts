import type { KeptRequest } from '../page-request.ts'

type RanGuard = NonNullable<KeptRequest['guards']>[number]

const verdictLabels: Readonly<Record<RanGuard['verdict'], string>> = {
  pass: 'passed',
  change: 'changed',
  refuse: 'rejected',
  answer: 'answered',
  failed: 'failed',
  'failed-open': 'failed, passed',
}

/** Describes a guard's verdict, such as "rejected (word)". */
export const describeVerdict = (
  { verdict, isWatched }: Pick<RanGuard, 'verdict' | 'isWatched'>,
  category?: string,
): string =>
  `${verdictLabels[verdict]}${category ? ` (${category})` : ''}${isWatched && verdict !== 'pass' ? ', not enforced' : ''}`
