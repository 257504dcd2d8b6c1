import type { Target } from '../providers/target.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { Condition, RequestRules, Strategy } from '../types.ts'
import type { Turn } from './rotation.ts'
import type { Inputs } from './strategies/order.ts'

/** A target with the connection as it is stored. */
export type RouteTarget = Target<ConnectionRecord>

/** Entries among which a strategy chooses: the models of a combo, or the connections of a provider. */
export interface Group {
  /** The name of the combo or the provider, for people. */
  name: string
  /** The key of its state, unique among groups. */
  label: string
  /** Changes with each change of the group, which ends moved sessions. */
  edition?: string | undefined
  strategy: Strategy
  /** Under `round-robin`: how many requests in a row each entry gets. */
  stickyLimit: number
  hedge: boolean
  /** The strategy among the connections of the providers it names; `undefined`: the provider's own. */
  connectionStrategy?: Strategy | undefined
  entries: readonly Entry[]
  /** Rules of its own for the requests that name it. */
  rules?: RequestRules | undefined
}

/** One entry of a group. */
export interface Entry {
  /** Its index in the group. */
  index: number
  /** A model name, or a connection's id. */
  name: string
  /** Default 1. */
  weight: number
  when?: Condition | undefined
  /** The target, if the entry is a connection. */
  target?: RouteTarget
}

/** The entries of a group, in the order in which one request tries them. */
export interface Chosen {
  entries: readonly Entry[]
  /** What the strategy chose by. */
  inputs: Inputs
  /** The turn that was taken, under `round-robin`. */
  turn?: Turn
}

/** An entry on the way to a target. */
export interface Choice {
  group: Group
  chosen: Chosen
  entry: Entry
  before: Choice | undefined
}

/** A target, and the entries that led to it. */
export interface Route {
  target: RouteTarget
  via?: Choice
}
