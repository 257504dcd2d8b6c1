import { unmet } from './condition.ts'
import type { RequestFacts } from './facts.ts'
import type { Entry, Route } from './group.ts'
import type { Health } from './health.ts'
import type { Pace, Run } from './pace.ts'
import type { Pins } from './pins.ts'
import type { Rotation } from './rotation.ts'
import type { Inputs } from './strategies/order.ts'
import { orderOf } from './strategies/strategies.ts'
import type { Visit } from './table.ts'

/** Lets the strategies of groups choose, with what they have to know. */
export interface Chooser {
  /** For a request that goes its way. */
  tripFor(facts: RequestFacts): Trip
  /** For one that only asks: nothing changes. */
  glanceFor(facts: RequestFacts): Visit
}

/** One request's way through groups. Round-robin groups take their turn when it comes to them. */
export interface Trip {
  visit: Visit
  /** A target has been called: it counts as busy by itself now. To be called at the end in any case. */
  begun(): void
  /** The groups on the way go on from what answered. */
  answered(route: Route): Promise<void>
}

export interface ChooserDependencies {
  rotation: Rotation
  pins: Pins
  pace: Pace
  health: Health
  /** Another number in [0, 1) with each call. */
  random: () => number
}

export function createChooser({ rotation, pins, pace, health, random }: ChooserDependencies): Chooser {
  function glance(facts: RequestFacts, turnOf: Rotation['take']): Visit {
    return async (group, { firstOf, costOf, reach }) => {
      const { strategy, label } = group
      const isMeant = ({ when }: Entry) => when === undefined || unmet(facts, when) === undefined
      const isUsable = (entry: Entry) => isMeant(entry) && some(reach(entry), (target) => !health.standingOf(target))
      const turn = strategy === 'round-robin' ? await turnOf(group, isUsable) : undefined
      const session = strategy === 'sticky' ? facts.session : ''
      const pin = session === '' ? undefined : await pins.of(group, session)
      const inputs: Inputs = {
        random,
        turn: turn?.index ?? 0,
        label,
        session,
        pin,
        costOf,
        latencyOf: (entry) => ask(firstOf(entry), (target) => pace.averageOf(target, facts.stream)),
        loadOf: (entry) => ask(firstOf(entry), pace.loadOf) ?? 0,
      }
      const entries = orderOf(strategy)(group.entries.filter(isMeant), inputs)
      return { entries, inputs, ...(turn && { turn }) }
    }
  }

  function tripFor(facts: RequestFacts): Trip {
    const choose = glance(facts, rotation.take)
    let reserved: Run[] = []
    return {
      async visit(group, prospect) {
        const chosen = await choose(group, prospect)
        const [first] = group.strategy === 'least-busy' ? chosen.entries : []
        const target = first && prospect.firstOf(first)
        if (target) reserved.push(pace.begin(target, facts.stream)) // or all of a burst would find it idle
        return chosen
      },
      begun() {
        for (const run of reserved) run.ended()
        reserved = []
      },
      async answered({ via }) {
        for (let choice = via; choice; choice = choice.before) {
          const { group, chosen, entry } = choice
          if (chosen.turn) await rotation.answered(group, entry, chosen.turn)
          if (group.strategy === 'sticky' && facts.session !== '' && entry !== chosen.entries[0])
            await pins.set(group, facts.session, entry)
        }
      },
    }
  }

  return { tripFor, glanceFor: (facts) => glance(facts, rotation.peek) }
}

const ask = <T, R>(value: T | undefined, question: (value: T) => R): R | undefined =>
  value === undefined ? undefined : question(value)

function some<T>(values: Iterable<T>, is: (value: T) => boolean): boolean {
  for (const value of values) if (is(value)) return true
  return false
}
