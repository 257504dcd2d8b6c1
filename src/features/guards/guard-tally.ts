import type { GuardEntry, RequestRecord } from '../../request/hook-records.ts'
import type { GuardRun, VerdictRecord } from './run-guards.ts'

/** The verdicts and costs of a request's guards, for its usage record. Contains no content. */
export class GuardTally {
  readonly #runs: GuardRun[] = []
  #costUsd: number | undefined = undefined

  /** Adds a run of guards, which may still be in progress. */
  add(run: GuardRun): void {
    for (const { name } of run.getGuards('request')) run.checks.set(`request ${name}`, { ...EMPTY_CHECK, name })
    this.#runs.push(run)
  }

  /** Adds the cost of a guard's model call. */
  addCost(usd: number): void {
    this.#costUsd = (this.#costUsd ?? 0) + usd
  }

  /** Returns the record's guard fields. */
  toRecord(): Pick<RequestRecord, 'guards' | 'guardUsd' | 'guardHeldMs'> {
    const guards = this.#runs.flatMap(listEntries)
    const heldMs = this.#runs.find((run) => run.heldMs !== undefined)?.heldMs
    return {
      ...(guards.length > 0 && { guards }),
      ...(this.#costUsd !== undefined && { guardUsd: this.#costUsd }),
      ...(heldMs !== undefined && { guardHeldMs: heldMs }),
    }
  }
}

function listEntries({ verdicts, checks }: GuardRun): GuardEntry[] {
  const entries = new Map<string, GuardEntry>()
  const hasStoppingVerdict = verdicts.some(({ verdict, isWatched }) => STOPPING_VERDICTS.has(verdict) && !isWatched)
  for (const [id, { name, stage, parts, ms }] of checks)
    if (parts > 0 || !hasStoppingVerdict) entries.set(id, { name, stage, verdict: 'pass', parts, ms })
  for (const { name, stage, verdict, category, isWatched } of verdicts) {
    const id = `${stage} ${name}`
    const entry = entries.get(id) ?? { name, stage, verdict: 'pass', parts: 0, ms: 0 }
    if (VERDICTS_BY_SEVERITY.indexOf(verdict) < VERDICTS_BY_SEVERITY.indexOf(entry.verdict)) continue
    const updatedEntry = { ...entry, verdict, ...(category !== undefined && { category }) }
    entries.set(id, isWatched ? { ...updatedEntry, isWatched } : updatedEntry)
  }
  return [...entries.values()]
}

/** The entry for a guard that didn't read the request's text, because a quick scan found nothing. */
const EMPTY_CHECK = { stage: 'request', parts: 0, ms: 0 } as const

/** Verdicts after which no other guard checks the request. */
const STOPPING_VERDICTS: ReadonlySet<VerdictRecord['verdict']> = new Set(['answer', 'refuse', 'failed'])

/** Verdicts from least to most severe. If a guard returns several in one stage, the record contains the most severe. */
const VERDICTS_BY_SEVERITY: ReadonlyArray<VerdictRecord['verdict']> = [
  'pass',
  'change',
  'failed-open',
  'answer',
  'refuse',
  'failed',
]
