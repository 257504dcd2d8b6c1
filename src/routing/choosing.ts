import type { Clock, Storage } from '../types.ts'
import { type Chooser, type ChooserDependencies, createChooser } from './chooser.ts'
import { createRoundRobin, type RoundRobin } from './round-robin.ts'
import { createAnsweredSessions, createSessionAffinity } from './session-affinity.ts'
import { sharedMeasures } from './shared-measures.ts'
import { localState, storedState } from './shared-state.ts'
import type { TargetStats } from './target-stats.ts'
import { ownMeasures } from './target-stats.ts'

/** How requests choose in groups, with the state that groups keep. Loaded with the first request that comes to a group. */
export interface Choosing extends Chooser {
  roundRobin: RoundRobin
  /** Ends the work that goes on between requests. */
  close(): Promise<void>
}

/** What choosing depends on besides the state of groups. */
export interface ChoosingDependencies extends Pick<ChooserDependencies, 'random'> {
  /** The storage that keeps the state for all instances on it; `undefined`: this instance keeps it in memory. */
  sharedIn: Storage | undefined
  /** The measurements of this instance. */
  targetStats: TargetStats
  clock: Clock
  onError(error: unknown): void
}

/** Makes the chooser together with the state of groups: their turns and moved sessions. */
export function createChoosing({ sharedIn, targetStats, random, clock, onError }: ChoosingDependencies): Choosing {
  const state = sharedIn ? storedState(sharedIn, { clock, onError }) : localState(clock)
  const roundRobin = createRoundRobin(state, clock)
  const measures = sharedIn ? sharedMeasures(targetStats, { state, clock }) : ownMeasures(targetStats)
  const affinity = createSessionAffinity(state)
  const chooser = createChooser({
    roundRobin,
    affinity,
    answeredSessions: createAnsweredSessions(clock),
    measures,
    random,
  })
  return { ...chooser, roundRobin, close: measures.close }
}
