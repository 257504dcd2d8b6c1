import type { RequestFacts } from './facts.ts'
import { unmet } from './facts.ts'
import type { Group, GroupChoice, GroupEntry, GroupOrder, GroupTurn, Inputs, Route, RouteTarget } from './group.ts'
import type { TargetHealth } from './health.ts'
import type { RoundRobin } from './round-robin.ts'
import type { GroupReach, Select } from './select.ts'
import type { AnsweredSessions, SessionAffinity } from './session-affinity.ts'
import { strategyOf } from './strategies.ts'
import type { Measures, RunningCall } from './target-stats.ts'

/** Applies the strategies of groups, with the state that they need. */
export interface Chooser {
  /** The selection for one request, which takes turns and counts as load. */
  selectionFor(facts: RequestFacts, health: Pick<TargetHealth, 'cooldownOf'>): GroupSelection
  /** The same order without a change of state, to explain a request. */
  previewFor(facts: RequestFacts, health: Pick<TargetHealth, 'cooldownOf'>): Select
}

/** The selection for one request. A round-robin group takes its turn when the request reaches it. */
export interface GroupSelection {
  select: Select
  /** Ends the load that was reserved by the choice: from now on the request itself counts as load of its target. Must always be called. */
  releaseLoad(): void
  /**
   * Ends the selection with the route that answered, if any: moves the turns of the groups that led to it, and moves the sessions whose own
   * entries led to one of the routes in `failed`. Groups that were tried in vain give their turns back.
   */
  settle(route: Route | undefined, failed: readonly Route[]): Promise<void>
  /** Was the session of the request moved to this route, or answered by the route's connection at this instance, within the last hour? */
  isPinned(route: Route): boolean
}

/** The state that the strategies use. */
export interface ChooserDependencies {
  roundRobin: RoundRobin
  affinity: SessionAffinity
  answeredSessions: AnsweredSessions
  measures: Measures
  /** A random number in [0, 1). */
  random: () => number
}

/** Makes the chooser. */
export function createChooser({
  roundRobin,
  affinity,
  answeredSessions,
  measures,
  random,
}: ChooserDependencies): Chooser {
  /** The target that an entry would probably lead to now. */
  function likelyOf(
    entry: GroupEntry,
    { representativeOf, reach }: GroupReach,
    isHealthy: IsHealthy,
  ): RouteTarget | undefined {
    const first = representativeOf(entry)
    return first && isHealthy(first) ? first : (find(reach(entry), isHealthy) ?? first)
  }

  /** The number of requests under way to all targets of an entry. */
  function loadOf(entry: GroupEntry, { reach }: GroupReach): number {
    let load = 0
    for (const target of new Set(reach(entry))) load += measures.loadOf(target)
    return load
  }

  /** Makes the function that orders a group's entries. `onChosen` is called with each choice, before another request chooses. */
  function preview({ facts, isHealthy }: SelectionRequest, turnOf: RoundRobin['take'], onChosen?: OnChosen): Select {
    return async (group, groupReach) => {
      const { label } = group
      const { order, needs } = strategyOf(group.strategy)
      const isMeant = ({ when }: GroupEntry) => when === undefined || unmet(facts, when) === undefined
      const isUsable = (entry: GroupEntry) => isMeant(entry) && find(groupReach.reach(entry), isHealthy) !== undefined
      const session = sessionIn(group, facts)

      function orderFor(turn: GroupTurn | undefined, pin: string | undefined): GroupOrder {
        const inputs: Inputs = {
          random,
          turn: turn?.index ?? 0,
          label,
          session,
          pin,
          costOf: groupReach.costOf,
          latencyOf: (entry) =>
            mapDefined(likelyOf(entry, groupReach, isHealthy), (target) => measures.averageOf(target, facts.stream)),
          loadOf: (entry) => loadOf(entry, groupReach),
        }
        const entries = order(group.entries.filter(isMeant), inputs)
        const groupOrder: GroupOrder = turn ? { entries, inputs, turn } : { entries, inputs }
        onChosen?.(group, groupOrder, groupReach)
        return groupOrder
      }

      const turn = needs === 'turn' ? await turnOf(group, isUsable) : undefined
      const pin = session !== '' ? await affinity.entryNameOf(group, session) : undefined
      if (needs === 'measures') await measures.refresh()
      return orderFor(turn, pin)
    }
  }

  function selectionFor(facts: RequestFacts, health: Pick<TargetHealth, 'cooldownOf'>): GroupSelection {
    const isHealthy = isUsed(health)
    let reservedCalls: RunningCall[] = []
    const turns = new Map<string, { group: Group; turn: GroupTurn }>()

    /** Counts the choice as load at once: otherwise all requests of a burst would find the same target idle. */
    function reserve(group: Group, { entries, turn }: GroupOrder, groupReach: GroupReach) {
      if (turn) {
        const { label } = group
        turns.set(label, { group, turn: roundRobin.join(turns.get(label)?.turn, turn) })
      }
      if (!strategyOf(group.strategy).reservesLoad) return
      for (const entry of entries) {
        const target = likelyOf(entry, groupReach, isHealthy)
        if (target && isHealthy(target)) return void reservedCalls.push(measures.begin(target, facts.stream))
      }
    }

    const choose = preview({ facts, isHealthy }, roundRobin.take, reserve)

    function releaseLoad() {
      for (const call of reservedCalls) call.end()
      reservedCalls = []
    }

    return {
      select(group, groupReach) {
        if (strategyOf(group.strategy).reservesLoad) releaseLoad() // the request must not count as load in its own choice
        return choose(group, groupReach)
      },
      releaseLoad,
      async settle(route, failed) {
        for (let choice = route?.via; choice; choice = choice.before) {
          const { group, order, entry } = choice
          if (order.turn) await roundRobin.settle(group, entry, order.turn)
          turns.delete(group.label)
          const [home] = order.entries
          const isMoved = entry !== home && failed.some(({ via }) => leadsThrough(via, order, home))
          const session = sessionIn(group, facts)
          if (session === '') continue
          if (route) answeredSessions.note(group, session, route.target.connection.id)
          if (isMoved) await affinity.moveTo(group, session, entry)
        }
        for (const { group, turn } of turns.values()) await roundRobin.settle(group, undefined, turn)
      },
      isPinned({ target, via }) {
        for (let choice = via; choice; choice = choice.before) {
          const { group, order, entry } = choice
          const session = sessionIn(group, facts)
          if (session === '') continue
          if (order.inputs.pin === entry.name || answeredSessions.isAnsweredBy(group, session, target.connection.id))
            return true
        }
        return false
      },
    }
  }

  function previewFor(facts: RequestFacts, health: Pick<TargetHealth, 'cooldownOf'>): Select {
    const turns = new Map<string, GroupTurn>() // a request that reaches the connections of a provider twice takes two turns
    return preview({ facts, isHealthy: isUsed(health) }, async (group, isUsable) => {
      const turn = await roundRobin.peek(group, isUsable, turns.get(group.label))
      turns.set(group.label, turn)
      return turn
    })
  }

  return { selectionFor, previewFor }
}

/** The session of the request, if the group chooses by it; otherwise the empty text. */
const sessionIn = ({ strategy }: Group, facts: RequestFacts) =>
  strategyOf(strategy).needs === 'session' ? facts.session() : ''

/** A request, and whether a target may be used for it. */
interface SelectionRequest {
  facts: RequestFacts
  isHealthy: IsHealthy
}

type IsHealthy = (target: RouteTarget) => boolean

const isUsed =
  (health: Pick<TargetHealth, 'cooldownOf'>): IsHealthy =>
  (target) =>
    !target.connection.draining && !health.cooldownOf(target)

type OnChosen = (group: Group, order: GroupOrder, groupReach: GroupReach) => void

function leadsThrough(way: GroupChoice | undefined, order: GroupOrder, entry: GroupEntry | undefined): boolean {
  for (let choice = way; choice; choice = choice.before)
    if (choice.order === order && choice.entry === entry) return true
  return false
}

const mapDefined = <T, R>(value: T | undefined, question: (value: T) => R): R | undefined =>
  value === undefined ? undefined : question(value)

function find<T>(values: Iterable<T>, is: (value: T) => unknown): T | undefined {
  for (const value of values) if (is(value)) return value
  return undefined
}
