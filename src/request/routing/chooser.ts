import type {
  Group,
  GroupChoice,
  GroupEntry,
  GroupOrder,
  GroupTurn,
  Route,
  RouteTarget,
  StrategyInputs,
} from './group.ts'
import type { RoundRobin } from './round-robin.ts'
import type { RequestFacts } from './routing-facts.ts'
import { findUnmetPart } from './routing-facts.ts'
import type { EntryLookup, Select } from './select.ts'
import type { ServedSessions, SessionAffinity } from './session-affinity.ts'
import { getStrategy } from './strategies.ts'
import type { TargetHealth } from './target-health.ts'
import type { Measures, RunningCall } from './target-stats.ts'

/** Applies the groups' strategies, with the state that they need. */
export interface Chooser {
  /** Starts the selection for one request. Selecting takes round-robin turns and counts as load. */
  startSelection(facts: RequestFacts, health: Pick<TargetHealth, 'getCooldown'>): GroupSelection
  /** Returns the order that `startSelection` would, without changing state, to explain a request. */
  previewSelection(facts: RequestFacts, health: Pick<TargetHealth, 'getCooldown'>): Select
}

/** The selection for one request. A round-robin group takes its turn when the request reaches it. */
export interface GroupSelection {
  select: Select
  /** Releases the load reserved by the choice, because from now on, the request itself counts toward its target's load. Must always be called. */
  releaseLoad(): void
  /**
   * Ends the selection. If a route responded, moves its groups' turns to it. Also moves the session to it if the session's previous entry led to a
   * route in `failedRoutes`. Groups whose targets all failed get their turns back.
   */
  finish(route: Route | undefined, failedRoutes: readonly Route[]): Promise<void>
  /** Returns whether the request's session was moved to this route, or served by its connection on this instance, within the last hour. */
  isPinned(route: Route): boolean
}

/** The state that the strategies use. */
export interface ChooserDependencies {
  roundRobin: RoundRobin
  affinity: SessionAffinity
  servedSessions: ServedSessions
  measures: Measures
  /** A random number in [0, 1). */
  random: () => number
}

export function createChooser(dependencies: ChooserDependencies): Chooser {
  const { roundRobin } = dependencies
  return {
    startSelection: (facts, health) => startSelection({ facts, isHealthy: createHealthCheck(health) }, dependencies),
    previewSelection(facts, health) {
      const turns = new Map<string, GroupTurn>() // a request that reaches a provider's connections twice takes two turns
      const request = { facts, isHealthy: createHealthCheck(health) }
      async function peekTurn(group: Group, isUsable: (entry: GroupEntry) => boolean) {
        const turn = await roundRobin.peek(group, isUsable, turns.get(group.label))
        turns.set(group.label, turn)
        return turn
      }
      return createSelect(request, peekTurn, dependencies)
    },
  }
}

/** Starts the selection for one request. Selecting takes round-robin turns and counts as load. */
function startSelection(request: SelectionRequest, dependencies: ChooserDependencies): GroupSelection {
  const { facts, isHealthy } = request
  const { roundRobin, affinity, servedSessions, measures } = dependencies
  let reservedCalls: RunningCall[] = []
  const turns = new Map<string, { group: Group; turn: GroupTurn }>()

  /**
   * Records the turn that was taken, and counts the choice as load immediately. Otherwise, all requests in a burst would find the same target idle.
   */
  function reserveLoad(group: Group, { entries, turn }: GroupOrder, entryLookup: EntryLookup) {
    if (turn) {
      const { label } = group
      turns.set(label, { group, turn: roundRobin.join(turns.get(label)?.turn, turn) })
    }
    if (!getStrategy(group.strategy).reservesLoad) return
    for (const entry of entries) {
      const target = findLikelyTarget(entry, entryLookup, isHealthy)
      if (target && isHealthy(target)) return void reservedCalls.push(measures.begin(target, facts.isStreaming))
    }
  }

  const choose = createSelect(request, roundRobin.take, dependencies, reserveLoad)

  function releaseLoad() {
    for (const call of reservedCalls) call.end()
    reservedCalls = []
  }

  return {
    select(group, entryLookup) {
      if (getStrategy(group.strategy).reservesLoad) releaseLoad() // the request must not count as load in its own choice
      return choose(group, entryLookup)
    },
    releaseLoad,
    async finish(route, failedRoutes) {
      for (let choice = route?.via; choice; choice = choice.parent) {
        const { group, order, entry } = choice
        if (order.turn) await roundRobin.finishTurn(group, entry, order.turn)
        turns.delete(group.label)
        const [homeEntry] = order.entries
        const shouldMoveSession =
          entry !== homeEntry && failedRoutes.some(({ via }) => leadsThrough(via, order, homeEntry))
        const session = getSession(group, facts)
        if (session === '') continue
        const ownedSession = { owner: facts.owner, session }
        if (route) servedSessions.record(group, ownedSession, route.target.connection.id)
        if (shouldMoveSession) await affinity.moveSession(group, ownedSession, entry)
      }
      for (const { group, turn } of turns.values()) await roundRobin.finishTurn(group, undefined, turn)
    },
    isPinned({ target, via }) {
      for (let choice = via; choice; choice = choice.parent) {
        const { group, order, entry } = choice
        const session = getSession(group, facts)
        if (session === '') continue
        const ownedSession = { owner: facts.owner, session }
        if (
          order.inputs.pinnedEntryName === entry.name ||
          servedSessions.isServedBy(group, ownedSession, target.connection.id)
        )
          return true
      }
      return false
    },
  }
}

/** Creates the function that orders a group's entries. `onChosen` is called with each choice, before another request can choose. */
function createSelect(
  { facts, isHealthy }: SelectionRequest,
  takeTurn: RoundRobin['take'],
  { affinity, measures, random }: ChooserDependencies,
  onChosen?: OnChosen,
): Select {
  return async (group, entryLookup) => {
    const { label } = group
    const { order, needs } = getStrategy(group.strategy)
    if (facts.functions) await facts.functions.evaluate(group)
    const meetsCondition = (entry: GroupEntry) => findUnmetPart(facts, entry) === undefined
    const isUsable = (entry: GroupEntry) =>
      meetsCondition(entry) && find(entryLookup.listTargets(entry), isHealthy) !== undefined
    const session = getSession(group, facts)

    function createGroupOrder(turn: GroupTurn | undefined, pinnedEntryName: string | undefined): GroupOrder {
      const inputs: StrategyInputs = {
        random,
        turnIndex: turn?.index ?? 0,
        label,
        session,
        pinnedEntryName,
        getCost: entryLookup.getCost,
        getLatency: (entry) =>
          mapDefined(findLikelyTarget(entry, entryLookup, isHealthy), (target) =>
            measures.getAverage(target, facts.isStreaming),
          ),
        getLoad: (entry) => getEntryLoad(entry, entryLookup, measures),
      }
      const entries = order(group.entries.filter(meetsCondition), inputs)
      const groupOrder: GroupOrder = turn ? { entries, inputs, turn } : { entries, inputs }
      onChosen?.(group, groupOrder, entryLookup)
      return groupOrder
    }

    const turn = needs === 'turn' ? await takeTurn(group, isUsable) : undefined
    const pinnedEntryName =
      session !== '' ? await affinity.getEntryName(group, { owner: facts.owner, session }) : undefined
    if (needs === 'measures') await measures.refresh()
    return createGroupOrder(turn, pinnedEntryName)
  }
}

function findLikelyTarget(
  entry: GroupEntry,
  { getRepresentative, listTargets }: EntryLookup,
  isHealthy: HealthCheck,
): RouteTarget | undefined {
  const representative = getRepresentative(entry)
  return representative && isHealthy(representative)
    ? representative
    : (find(listTargets(entry), isHealthy) ?? representative)
}

/** Totals the in-flight requests to an entry's targets. */
function getEntryLoad(entry: GroupEntry, { listTargets }: EntryLookup, measures: Measures): number {
  let load = 0
  for (const target of new Set(listTargets(entry))) load += measures.getLoad(target)
  return load
}

/** Returns the request's session if the group uses it to choose, otherwise an empty string. */
const getSession = ({ strategy }: Group, facts: RequestFacts) =>
  getStrategy(strategy).needs === 'session' ? facts.getSession() : ''

/** A request, and a check for whether a target is usable for it. */
interface SelectionRequest {
  facts: RequestFacts
  isHealthy: HealthCheck
}

type HealthCheck = (target: RouteTarget) => boolean

const createHealthCheck =
  (health: Pick<TargetHealth, 'getCooldown'>): HealthCheck =>
  (target) =>
    !target.connection.draining && !health.getCooldown(target)

type OnChosen = (group: Group, order: GroupOrder, entryLookup: EntryLookup) => void

function leadsThrough(via: GroupChoice | undefined, order: GroupOrder, entry: GroupEntry | undefined): boolean {
  for (let choice = via; choice; choice = choice.parent)
    if (choice.order === order && choice.entry === entry) return true
  return false
}

const mapDefined = <T, R>(value: T | undefined, map: (value: T) => R): R | undefined =>
  value === undefined ? undefined : map(value)

function find<T>(values: Iterable<T>, matches: (value: T) => unknown): T | undefined {
  for (const value of values) if (matches(value)) return value
  return undefined
}
