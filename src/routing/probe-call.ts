import type { HealthRecord } from './health-records.ts'

/** A call to a target that is not well, as others see it who wait for what becomes of it. */
export interface ProbeCall {
  /** Epoch ms. */
  since: number
  ended: Promise<Ending>
}

/** What became of it; `dropped`: it says nothing about the next call, as its client has left, or its failure may have been chance. */
export type Ending = 'answered' | 'failed' | 'dropped'

interface ProbedTarget {
  /** What stands against the target. */
  standing: readonly HealthRecord[]
  /** Those of them that the call probes. */
  probed: readonly HealthRecord[]
  now: number
}

/** Notes that a call is under way, on all that stands against its target. Answers how to tell its end, which gives the probes back. */
export function startProbeCall({ standing, probed, now }: ProbedTarget): (ending: Ending) => void {
  let settle: (ending: Ending) => void = () => {}
  const ended = new Promise<Ending>((resolve) => {
    settle = resolve
  })
  const probeCall: ProbeCall = { since: now, ended }
  for (const record of standing) record.probeCall ??= probeCall
  for (const record of probed) {
    record.probing = true
    record.probeCall = probeCall
  }
  return (ending) => {
    for (const record of standing) {
      if (record.probeCall !== probeCall) continue // another call has taken its place
      record.probing = false
      delete record.probeCall
    }
    settle(ending)
  }
}
