import type { Clock } from '../types.ts'
import { startDeadline } from './deadline.ts'

/** Does the work settle, well or badly, within `ms`? */
export function settlesWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const cancelDeadline = startDeadline(clock, ms, () => resolve(false))
    const settled = () => {
      cancelDeadline()
      resolve(true)
    }
    work.then(settled, settled)
  })
}
