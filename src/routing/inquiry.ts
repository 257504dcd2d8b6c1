import type { HealthRecord } from './health-records.ts'

/** A call to a target that is not well, as others see it who wait for what becomes of it. */
export interface Inquiry {
  /** Epoch ms. */
  since: number
  ended: Promise<Ending>
}

/** What became of it; `dropped`: nobody waited to hear. */
export type Ending = 'answered' | 'failed' | 'dropped'

interface Inquired {
  /** What stands against the target. */
  standing: readonly HealthRecord[]
  /** Those of them that the call probes. */
  probed: readonly HealthRecord[]
  now: number
}

/** Notes that a call is under way, on all that stands against its target. Answers how to tell its end, which gives the probes back. */
export function inquire({ standing, probed, now }: Inquired): (ending: Ending) => void {
  let settle: (ending: Ending) => void = () => {}
  const ended = new Promise<Ending>((resolve) => {
    settle = resolve
  })
  const inquiry: Inquiry = { since: now, ended }
  for (const record of standing) record.inquiry ??= inquiry
  for (const record of probed) {
    record.probing = true
    record.inquiry = inquiry
  }
  return (ending) => {
    for (const record of standing) {
      if (record.inquiry !== inquiry) continue // another call has taken its place
      record.probing = false
      delete record.inquiry
    }
    settle(ending)
  }
}
