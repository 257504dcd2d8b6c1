import { startDeadline } from '../lib/deadline.ts'
import type { Clock } from '../types.ts'
import type { Standing } from './health.ts'
import type { HealthRecords, HealthTarget } from './health-records.ts'
import type { Ending, ProbeCall } from './probe-call.ts'
import type { Trial } from './trial.ts'

/** A call without an outcome holds others up for this long. */
const MAX_WAIT_MS = 5_000

interface Dependencies {
  /** Settles when the client no longer waits. */
  left: Promise<unknown>
  clock: Clock
  /** The combo whose own health terms hold for the request. */
  combo: string | undefined
  records: HealthRecords
  standingOf(target: HealthTarget): Standing | undefined
  begin(target: HealthTarget): Trial
}

/**
 * The turn of a request whose only target is unhealthy. Where the standing is firm, one request at a time calls it, and the others wait for
 * the outcome: an answer lets all of them through; a failure that each would meet is theirs too, and they get the target's standing; after
 * any other the next one calls. While a call has no outcome, one more may follow every five seconds, and the rest get the standing.
 */
export async function takeTurn(
  target: HealthTarget,
  { left, clock, combo, records, standingOf, begin }: Dependencies,
): Promise<Trial | Standing> {
  const since = clock.now()
  let isLeft = false
  void left.then(() => {
    isLeft = true
  })
  const probeCall = () => records.of(target, combo).find((record) => record.probeCall)?.probeCall
  for (;;) {
    const standing = standingOf(target)
    const current = standing?.isFirm && probeCall()
    if (!current) return begin(target)
    const now = clock.now()
    if (now - since >= MAX_WAIT_MS) {
      if (now - current.since < MAX_WAIT_MS) return standing
      records.release(target, combo)
      return begin(target)
    }
    const ending = await within(since + MAX_WAIT_MS - now, { ended: current.ended, left, clock })
    if (isLeft) return standing
    const after = ending === 'failed' ? standingOf(target) : undefined
    if (after) return after
  }
}

interface Waiting {
  ended: ProbeCall['ended']
  left: Promise<unknown>
  clock: Clock
}

function within(ms: number, { ended, left, clock }: Waiting): Promise<Ending> {
  return new Promise((resolve) => {
    const cancelDeadline = startDeadline(clock, ms, () => resolve('dropped'))
    function settle(ending: Ending) {
      cancelDeadline()
      resolve(ending)
    }
    void ended.then(settle)
    void left.then(() => settle('dropped'))
  })
}
