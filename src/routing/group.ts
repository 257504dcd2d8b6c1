import type { ProviderTarget } from '../providers/target.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { AnswerCondition, Condition, EntryParams, Kind, RequestRules, Strategy } from '../types.ts'

/** A target with the connection as it is stored. */
export type RouteTarget = ProviderTarget<ConnectionRecord>

/** Equal for targets whose parameters are equal, whatever their order; none and an empty set are equal as well. */
export const paramsText = ({ params }: Pick<RouteTarget, 'params'>): string =>
  params ? JSON.stringify(Object.entries(params).sort()) : '[]'

/** The strategy where none is set: the order of the list. */
export const DEFAULT_STRATEGY: Strategy = 'fallback'

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
  /** What the models of a combo are for. */
  kind?: Kind | undefined
  /** Do the different models of a combo of embeddings make the same vectors? */
  sameVectors?: boolean | undefined
  /** May another target be tried after a failure for which the target before may charge, since it may have done the work? */
  retryAmbiguous?: boolean | undefined
  /** The answers after which the next target is asked. */
  on?: readonly AnswerCondition[] | undefined
  /** The strategy among the connections of the providers it names; `undefined`: the provider's own. */
  connectionStrategy?: Strategy | undefined
  entries: readonly GroupEntry[]
  /** The combo's own rules for requests that name it. */
  rules?: RequestRules | undefined
}

/** One entry of a group. */
export interface GroupEntry {
  /** Its index in the group. */
  index: number
  /** A model name, or a connection's id. */
  name: string
  /** Default 1. */
  weight: number
  when?: Condition | undefined
  /** The voices of its targets, by the names that clients say. */
  voices?: Readonly<Record<string, string>> | undefined
  /** The parameters that are set in requests to its targets. */
  params?: Readonly<EntryParams> | undefined
  /** The target, if the entry is a connection. */
  target?: RouteTarget
}

/** The facts by which strategies choose. */
export interface Inputs {
  /** A random number in [0, 1). */
  random(): number
  /** The index of the entry whose turn it is. */
  turn: number
  /** The group's label, so that a session has another home in each group. */
  label: string
  /** The session of the request; may be empty. */
  session: string
  /** The entry that the session was moved to, by name. */
  pin: string | undefined
  /** Input plus output in US dollars per million tokens; `undefined` when a price is not known. */
  costOf(entry: GroupEntry): number | undefined
  /** A recent average in ms; `undefined` before the first answer. */
  latencyOf(entry: GroupEntry): number | undefined
  /** The number of requests under way. */
  loadOf(entry: GroupEntry): number
}

/** The turn of an entry; `times`: how often in a row it now has the turn. */
export interface GroupTurn {
  index: number
  times: number
  /** The version of the state after this turn, if it was the last one taken; `before`: the state before this turn. */
  version?: string
  before?: string
}

/** The entries of a group, in the order in which one request tries them. */
export interface GroupOrder {
  entries: readonly GroupEntry[]
  /** The facts by which the strategy has chosen. */
  inputs: Inputs
  /** The turn that was taken, under `round-robin`. */
  turn?: GroupTurn
}

/** An entry on the way to a target. */
export interface GroupChoice {
  group: Group
  order: GroupOrder
  entry: GroupEntry
  before: GroupChoice | undefined
}

/** A target, and the entries that led to it. */
export interface Route {
  target: RouteTarget
  via?: GroupChoice
  /** The answers after which the next target is asked, by all groups that led to it; absent: none. */
  on?: readonly AnswerCondition[]
}

/** What a model name stands for once its aliases are followed: a group, or its routes in order; `undefined` when it is unknown. */
export type Resolution = Group | readonly Route[] | undefined

/** The groups that led to a target, outermost first: `pool:round-robin>inner:weighted`. */
export function viaOf(choice: Pick<GroupChoice, 'group' | 'before'> | undefined): string {
  if (!choice) return ''
  const { before, group } = choice
  return `${before ? `${viaOf(before)}>` : ''}${group.name}:${group.strategy}`
}
