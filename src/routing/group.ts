import type { Target } from '../providers/target.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { Condition, Strategy } from '../types.ts'
import type { Turn } from './rotation.ts'
import type { Inputs } from './strategies/order.ts'

/** A target by a connection as it is stored. */
export type RouteTarget = Target<ConnectionRecord>

/** Several ways to a model, among which a strategy chooses: the models of a combo, or the connections of a provider. */
export interface Group {
  /** The combo's name or the provider's, as people know it. */
  name: string
  /** Names its state: another one for each group. */
  label: string
  /** Another one after each change, with which sessions that were moved go home. */
  edition?: string | undefined
  strategy: Strategy
  /** Under `round-robin`: so many requests in a row for each entry. */
  stickyLimit: number
  hedge: boolean
  /** How the connections of the providers that it names are chosen among; `undefined`: as each provider says. */
  connectionStrategy?: Strategy | undefined
  entries: readonly Entry[]
}

/** One of the ways of a group. */
export interface Entry {
  /** Its place in the list. */
  index: number
  /** A model name, or a connection's id. */
  name: string
  /** 1 unless it has been given one. */
  weight: number
  when?: Condition | undefined
  /** Of a connection. */
  target?: RouteTarget
}

/** The entries of a group in the order in which one request tries them. */
export interface Chosen {
  entries: readonly Entry[]
  /** What was known. */
  inputs: Inputs
  /** The turn that was taken for it. */
  turn?: Turn
}

/** An entry on the way that led to a target. */
export interface Choice {
  group: Group
  chosen: Chosen
  entry: Entry
  before: Choice | undefined
}

/** A target, and how the request came to it. */
export interface Route {
  target: RouteTarget
  via?: Choice
}
