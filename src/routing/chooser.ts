import { unmet } from './condition.ts'
import type { RequestFacts } from './facts.ts'
import type { Chosen, Entry, Group, Route, RouteTarget } from './group.ts'
import type { Health } from './health.ts'
import type { Pins } from './pins.ts'
import type { Rotation, Turn } from './rotation.ts'
import type { Lookahead, Select } from './select.ts'
import type { Inputs } from './strategies/order.ts'
import { orderOf } from './strategies/strategies.ts'
import type { Run, TargetStats } from './target-stats.ts'

/** Lets the strategies of groups choose, with what they have to know. */
export interface Chooser {
  /** For a request that goes its way. */
  selectionFor(facts: RequestFacts): Selection
  /** For one that only asks: nothing changes. */
  previewFor(facts: RequestFacts): Select
}

/** One request's way through groups. Round-robin groups take their turn when it comes to them. */
export interface Selection {
  select: Select
  /** A target has been called: it counts as busy by itself now. To be called at the end in any case. */
  begun(): void
  /** The groups on the way go on from what answered; those that have tried all in vain give their turns back. */
  answered(route: Route | undefined): Promise<void>
}

/** What the strategies choose by. */
export interface ChooserDependencies {
  rotation: Rotation
  pins: Pins
  targetStats: TargetStats
  health: Health
  /** Another number in [0, 1) with each call. */
  random: () => number
}

/** Chooses by all strategies. */
export function createChooser({ rotation, pins, targetStats, health, random }: ChooserDependencies): Chooser {
  const isWell = (target: RouteTarget) => !health.standingOf(target)

  /** Whom an entry will probably lead to now. */
  function likelyOf(entry: Entry, { firstOf, reach }: Lookahead): RouteTarget | undefined {
    const first = firstOf(entry)
    return first && isWell(first) ? first : (find(reach(entry), isWell) ?? first)
  }

  /** All that is under way to whatever the entry leads to. */
  function loadOf(entry: Entry, { reach }: Lookahead): number {
    let load = 0
    for (const target of new Set(reach(entry))) load += targetStats.loadOf(target)
    return load
  }

  /** `onChosen` hears of the choice before any other request chooses. */
  function preview(facts: RequestFacts, turnOf: Rotation['take'], onChosen?: OnChosen): Select {
    return (group, lookahead) => {
      const { strategy, label } = group
      const isMeant = ({ when }: Entry) => when === undefined || unmet(facts, when) === undefined
      const isUsable = (entry: Entry) => isMeant(entry) && find(lookahead.reach(entry), isWell) !== undefined
      const session = strategy === 'sticky' ? facts.session() : ''

      function chosen(turn: Turn | undefined, pin: string | undefined): Chosen {
        const inputs: Inputs = {
          random,
          turn: turn?.index ?? 0,
          label,
          session,
          pin,
          costOf: lookahead.costOf,
          latencyOf: (entry) =>
            ask(likelyOf(entry, lookahead), (target) => targetStats.averageOf(target, facts.stream)),
          loadOf: (entry) => loadOf(entry, lookahead),
        }
        const entries = orderOf(strategy)(group.entries.filter(isMeant), inputs)
        const chosen: Chosen = turn ? { entries, inputs, turn } : { entries, inputs }
        onChosen?.(group, chosen, lookahead)
        return chosen
      }

      if (strategy === 'round-robin') return turnOf(group, isUsable).then((turn) => chosen(turn, undefined))
      if (session !== '') return pins.of(group, session).then((pin) => chosen(undefined, pin))
      return chosen(undefined, undefined)
    }
  }

  function selectionFor(facts: RequestFacts): Selection {
    let reserved: Run[] = []
    const turns = new Map<Group, Turn>()

    /** Or all of a burst would find it idle. */
    function reserve(group: Group, { entries, turn }: Chosen, lookahead: Lookahead) {
      if (turn) turns.set(group, turn)
      if (group.strategy !== 'least-busy') return
      for (const entry of entries) {
        const target = likelyOf(entry, lookahead)
        if (target && isWell(target)) return void reserved.push(targetStats.begin(target, facts.stream))
      }
    }

    const choose = preview(facts, rotation.take, reserve)

    function begun() {
      for (const run of reserved) run.ended()
      reserved = []
    }

    return {
      select(group, lookahead) {
        if (group.strategy === 'least-busy') begun() // a request is not in its own way
        return choose(group, lookahead)
      },
      begun,
      async answered(route) {
        for (let choice = route?.via; choice; choice = choice.before) {
          const { group, chosen, entry } = choice
          if (chosen.turn) await rotation.answered(group, entry, chosen.turn)
          turns.delete(group)
          if (group.strategy === 'sticky' && facts.session() !== '' && entry !== chosen.entries[0])
            await pins.set(group, facts.session(), entry)
        }
        for (const [group, turn] of turns) await rotation.answered(group, undefined, turn)
      },
    }
  }

  return { selectionFor, previewFor: (facts) => preview(facts, rotation.peek) }
}

type OnChosen = (group: Group, chosen: Chosen, lookahead: Lookahead) => void

const ask = <T, R>(value: T | undefined, question: (value: T) => R): R | undefined =>
  value === undefined ? undefined : question(value)

function find<T>(values: Iterable<T>, is: (value: T) => unknown): T | undefined {
  for (const value of values) if (is(value)) return value
  return undefined
}
