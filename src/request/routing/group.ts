import type { ProviderTarget } from '../../protocols/providers/target.ts'
import type { ConnectionRecord } from '../../records/store.ts'
import type {
  Condition,
  DataTags,
  EntryParams,
  Kind,
  PromptCaching,
  RequestRules,
  ResponseCondition,
  Strategy,
} from '../../types.ts'

/** A target with its stored connection. */
export type RouteTarget = ProviderTarget<ConnectionRecord>

/** Serializes parameters so that equal parameters produce equal strings, in any order. An empty set equals no parameters. */
export const serializeParams = ({ params }: Pick<RouteTarget, 'params'>): string =>
  params ? JSON.stringify(Object.entries(params).sort()) : '[]'

/** The default strategy: in the listed order. */
export const DEFAULT_STRATEGY: Strategy = 'fallback'

/** The entries that a strategy chooses from: a combo's models, or a provider's connections. */
export interface Group {
  /** The display name, which is the combo's or the provider's. */
  name: string
  /** The key of the group's state, unique among groups. */
  label: string
  /** A value that changes with each change to the group, which ends moved sessions. */
  revision?: string | undefined
  strategy: Strategy
  /** With `round-robin`, how many consecutive requests each entry gets. */
  stickyLimit: number
  hedge: boolean
  /** The kind of the combo's models. */
  kind?: Kind | undefined
  /** Whether an embedding combo's different models produce the same vectors. */
  sameVectors?: boolean | undefined
  /** Whether to try another target after a failure that may be charged, because the target may have done the work. */
  retryAmbiguous?: boolean | undefined
  /** The response conditions that make the gateway try the next target. */
  on?: readonly ResponseCondition[] | undefined
  /** The strategy for the connections of the combo's providers. `undefined` means the provider's own strategy. */
  connectionStrategy?: Strategy | undefined
  entries: readonly GroupEntry[]
  /** How to arrange each entry's targets. */
  arrangement?: TargetOrder
  /** The names of the combo's guards. */
  guards?: readonly string[] | undefined
  /** The rules for requests to the combo. */
  rules?: RequestRules | undefined
}

/** The order of one entry's targets: by rank, lowest first. Within a rank, by the strategy or unchanged. */
export interface TargetOrder {
  getRank(target: RouteTarget): number
  strategy: Strategy | undefined
}

/** One entry of a group. */
export interface GroupEntry {
  /** The entry's index in the group. */
  index: number
  /** A model name, or a connection's ID. */
  name: string
  /** The entry's weight. Default: 1. */
  weight: number
  when?: Condition | undefined
  /** The tags that its targets' connections must have. */
  where?: Readonly<DataTags> | undefined
  /** The voices of its targets, by the names that clients use. */
  voices?: Readonly<Record<string, string>> | undefined
  /** The parameters that are set in requests to its targets. */
  params?: Readonly<EntryParams> | undefined
  /** Whether the gateway asks its targets to cache prompts. */
  promptCaching?: PromptCaching | undefined
  /** The target, if the entry is a connection. */
  target?: RouteTarget
}

/** The inputs to strategies. */
export interface StrategyInputs {
  /** Returns a random number in [0, 1). */
  random(): number
  /** The index of the entry whose turn it is. */
  turnIndex: number
  /** The group's label, so that a session starts at a different entry in each group. */
  label: string
  /** The request's session; may be empty. */
  session: string
  /** The name of the entry that the session was moved to. */
  pinnedEntryName: string | undefined
  /** Returns the input plus output price in US dollars per million tokens, or `undefined` if one is unknown. */
  getCost(entry: GroupEntry): number | undefined
  /** Returns the recent average latency in ms, or `undefined` before the first response. */
  getLatency(entry: GroupEntry): number | undefined
  /** Returns the number of in-flight requests. */
  getLoad(entry: GroupEntry): number
}

/** An entry's turn. `times` is how many consecutive times the entry has had the turn. */
export interface GroupTurn {
  index: number
  times: number
  /** The state's version after this turn, if it was the last one taken. `previousState` is the state before it. */
  version?: string
  previousState?: string
}

/** A group's entries, in the order in which one request tries them. */
export interface GroupOrder {
  entries: readonly GroupEntry[]
  /** The inputs to the choice. */
  inputs: StrategyInputs
  /** The turn that was taken under `round-robin`. */
  turn?: GroupTurn
}

/** An entry on the path to a target. */
export interface GroupChoice {
  group: Group
  order: GroupOrder
  entry: GroupEntry
  parent: GroupChoice | undefined
}

/** A target, and the entries that led to it. */
export interface Route {
  target: RouteTarget
  via?: GroupChoice
  /** The response conditions of all groups on the path that make the gateway try the next target. Absent if there are none. */
  on?: readonly ResponseCondition[]
}

/** The result of resolving a model name through its aliases: a group, its routes in order, or `undefined` if the name is unknown. */
export type Resolution = Group | readonly Route[] | undefined

/** Formats the groups on the path to a target, outermost first: `pool:round-robin>inner:weighted`. */
export function formatVia(choice: Pick<GroupChoice, 'group' | 'parent'> | undefined): string {
  if (!choice) return ''
  const { parent, group } = choice
  return `${parent ? `${formatVia(parent)}>` : ''}${group.name}:${group.strategy}`
}

/** Returns the name that led a request to a route: the request's model name, or the outermost entry's name in its model list. */
export function getRequestedName(
  { via }: Route,
  request: { call: { model: string }; list?: Group | undefined },
): string {
  if (!request.list) return request.call.model
  let outermostChoice = via
  while (outermostChoice?.parent) outermostChoice = outermostChoice.parent
  return outermostChoice?.entry.name ?? ''
}
