import { type ChooserDependencies, createChooser } from '../routing/chooser.ts'
import { unmet } from '../routing/condition.ts'
import type { RequestFacts } from '../routing/facts.ts'
import type { NextRoute } from '../routing/follow.ts'
import type { Group } from '../routing/group.ts'
import type { TargetHealth } from '../routing/health.ts'
import { ownMeasures } from '../routing/measures.ts'
import { createAnsweredSessions, createPins } from '../routing/pins.ts'
import { createRotation, type Rotation } from '../routing/rotation.ts'
import type { Select } from '../routing/select.ts'
import { sharedMeasures } from '../routing/shared-measures.ts'
import { localState, storedState } from '../routing/shared-state.ts'
import type { RouteTable } from '../routing/table.ts'
import type { TargetStats } from '../routing/target-stats.ts'
import type { Clock, Condition, Storage } from '../types.ts'
import { factsOf } from './facts.ts'
import { routesThrough } from './group-routes.ts'
import type { ModelRequest } from './model-request.ts'
import { type RequestSelection, requestWay } from './request-way.ts'

/** How requests choose in groups, with the state that groups keep. Loaded with the first request that comes to a group. */
export interface Choosing {
  rotation: Rotation
  /** The routes of a request whose model name means a group, and how it chooses on the way. */
  through(group: Group, request: ModelRequest, table: RouteTable): { routes: NextRoute; selection: RequestSelection }
  /** For a request that is only asked about: nothing changes. */
  previewFor(facts: RequestFacts, health: TargetHealth): Select
  /** Ends what goes on between requests. */
  close(): Promise<void>
}

/** What choosing depends on besides the state of groups. */
export interface ChoosingDependencies extends Omit<ChooserDependencies, 'rotation' | 'pins' | 'answered' | 'measures'> {
  /** Kept there for all instances on it; else this one keeps it in memory. */
  sharedIn: Storage | undefined
  /** What this instance measures. */
  targetStats: TargetStats
  clock: Clock
  onError(error: unknown): void
}

/** Chooses, and keeps the turns and moved sessions of groups. */
export function createChoosing(dependencies: ChoosingDependencies): Choosing {
  const { sharedIn, targetStats, random, clock, onError } = dependencies
  const state = sharedIn ? storedState(sharedIn, { clock, onError }) : localState(clock)
  const rotation = createRotation(state)
  const measures = sharedIn ? sharedMeasures(targetStats, { state, clock }) : ownMeasures(targetStats)
  const chooser = createChooser({
    rotation,
    pins: createPins(state),
    answered: createAnsweredSessions(clock),
    measures,
    random,
  })
  return {
    rotation,
    through(group, { call, exchange, report, context }, table) {
      const facts = factsOf(call, (name) => exchange.header(name))
      const selection = {
        ...chooser.selectionFor(facts, context.health),
        unmet: (when: Condition) => unmet(facts, when),
      }
      return { routes: routesThrough(group, call.model, requestWay(table, selection, report)), selection }
    },
    previewFor: chooser.previewFor,
    close: measures.close,
  }
}
