import type { Clock, Storage } from '../../types.ts'
import { type Chooser, type ChooserDependencies, createChooser } from './chooser.ts'
import { createRoundRobin, type RoundRobin } from './round-robin.ts'
import { createServedSessions, createSessionAffinity } from './session-affinity.ts'
import { createSharedMeasures } from './shared-measures.ts'
import { createLocalState, createStoredState } from './shared-state.ts'
import type { TargetStats } from './target-stats.ts'
import { createLocalMeasures } from './target-stats.ts'

/** Chooses within groups and keeps their state. Lazy-loaded. */
export interface GroupChooser extends Chooser {
  roundRobin: RoundRobin
  /** Stops background work. */
  close(): Promise<void>
}

/** The dependencies of a `GroupChooser`. */
export interface GroupChooserDependencies extends Pick<ChooserDependencies, 'random'> {
  /** The storage in which instances share the state. If `undefined`, each instance keeps its own state in memory. */
  sharedStorage: Storage | undefined
  /** This instance's measurements. */
  targetStats: TargetStats
  clock: Clock
  onError(error: unknown): void
}

/** Creates the chooser with the groups' state: turns and moved sessions. */
export function createGroupChooser({
  sharedStorage,
  targetStats,
  random,
  clock,
  onError,
}: GroupChooserDependencies): GroupChooser {
  const state = sharedStorage ? createStoredState(sharedStorage, { clock, onError }) : createLocalState(clock)
  const roundRobin = createRoundRobin(state, clock)
  const measures = sharedStorage
    ? createSharedMeasures(targetStats, { state, clock })
    : createLocalMeasures(targetStats)
  const affinity = createSessionAffinity(state)
  const chooser = createChooser({
    roundRobin,
    affinity,
    servedSessions: createServedSessions(clock),
    measures,
    random,
  })
  return { ...chooser, roundRobin, close: measures.close }
}
