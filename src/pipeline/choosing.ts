import { type ChooserDependencies, createChooser, type Selection } from '../routing/chooser.ts'
import { unmet } from '../routing/condition.ts'
import type { RequestFacts } from '../routing/facts.ts'
import { createPins } from '../routing/pins.ts'
import { createRotation, type Rotation } from '../routing/rotation.ts'
import type { Select } from '../routing/select.ts'
import { localState, type SharedState, storedState } from '../routing/shared-state.ts'
import type { Clock, Condition, Storage } from '../types.ts'
import { factsOf } from './facts.ts'
import type { ModelRequest } from './model-request.ts'

/** How requests choose in groups, with the state that groups keep. Loaded with the first request that comes to a group. */
export interface Choosing {
  rotation: Rotation
  selectionFor(request: Pick<ModelRequest, 'call' | 'exchange'>): RequestSelection
  /** For a request that is only asked about: nothing changes. */
  previewFor(facts: RequestFacts): Select
}

/** The selections of one request. */
export interface RequestSelection extends Selection {
  /** The member of a condition that the request does not meet. */
  unmet(when: Condition): string | undefined
}

/** What choosing depends on besides the state of groups. */
export interface ChoosingDependencies extends Omit<ChooserDependencies, 'rotation' | 'pins'> {
  /** Kept there for all instances on it; else this one keeps it in memory. */
  sharedIn: Storage | undefined
  clock: Clock
  onError(error: unknown): void
}

/** Chooses, and keeps the turns and moved sessions of groups. */
export function createChoosing({ sharedIn, clock, onError, ...dependencies }: ChoosingDependencies): Choosing {
  const state: SharedState = sharedIn ? storedState(sharedIn, { clock, onError }) : localState(clock)
  const rotation = createRotation(state)
  const chooser = createChooser({ ...dependencies, rotation, pins: createPins(state) })
  return {
    rotation,
    selectionFor({ call, exchange }) {
      const facts = factsOf(call, (name) => exchange.header(name))
      return { ...chooser.selectionFor(facts), unmet: (when) => unmet(facts, when) }
    },
    previewFor: chooser.previewFor,
  }
}
