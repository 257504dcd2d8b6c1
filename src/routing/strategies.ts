import { hashOf } from '../lib/hash.ts'
import type { Strategy } from '../types.ts'
import { DEFAULT_STRATEGY, type GroupChoice, type GroupEntry, type GroupOrder, type Inputs } from './group.ts'

/** Returns all entries in the order in which to try them; the list itself is not changed. */
export type Order = (entries: readonly GroupEntry[], inputs: Inputs) => readonly GroupEntry[]

/** All that the gateway knows of a strategy: a new one is one more line of the table below. */
export interface StrategyDefinition {
  order: Order
  /** What it chooses by, besides the entries: the turn of the group, the session of the request, or what is measured of targets. */
  needs?: 'turn' | 'session' | 'measures'
  /** Does a choice count as load at once? Otherwise all requests of a burst would find the same target idle. */
  reservesLoad?: true
  /** Why an entry has its place in the group, in a few words. */
  reason(entry: GroupEntry, place: number, chosen: GroupOrder): string
}

const asListed: Order = (entries) => entries

const listed: StrategyDefinition['reason'] = ({ index }) => `listed ${nth(index)}`

/** The definition of each strategy. */
export const strategies: Readonly<Record<Strategy, StrategyDefinition>> = {
  fallback: { order: asListed, reason: listed },

  /** As listed. Entries whose `when` does not hold are left out beforehand, under every strategy. */
  conditional: { order: asListed, reason: listed },

  /** As listed, starting at the entry whose turn it is. */
  'round-robin': {
    order: (entries, { turn }) => [
      ...entries.filter(({ index }) => index >= turn),
      ...entries.filter(({ index }) => index < turn),
    ],
    needs: 'turn',
    reason: (_, place) => (place === 0 ? 'its turn' : `${place} after the one whose turn it is`),
  },

  /** Drawn at random by weight, without replacement; entries of weight 0 last, as listed. */
  weighted: {
    order: byWeight,
    reason: ({ weight }, place, { entries }) =>
      `drawn ${nth(place)}, weight ${weight} of ${entries.reduce((sum, { weight }) => sum + weight, 0)}`,
  },

  /** Shuffled: each order is as likely as any other. */
  random: {
    order(entries, { random }) {
      const left = [...entries]
      return entries.flatMap(() => left.splice(Math.floor(random() * left.length), 1))
    },
    reason: (_, place) => `drawn ${nth(place)}`,
  },

  /** Fastest first, equals as listed; entries that were never measured before all others. */
  'least-latency': { order: byLatency, needs: 'measures', reason: latencyReason },

  /** Cheapest first, equals as listed; entries of unknown price last. */
  'least-cost': {
    order: (entries, { costOf }) => least(entries, costOf),
    reason(entry, _, { inputs }) {
      const cost = inputs.costOf(entry)
      return cost === undefined ? 'no known price' : `$${Number(cost.toFixed(4))} per million tokens, input and output`
    },
  },

  /** Fewest requests under way first; equals as listed. */
  'least-busy': {
    order: (entries, { loadOf }) => least(entries, loadOf),
    needs: 'measures',
    reservesLoad: true,
    reason(entry, _, { inputs }) {
      const load = inputs.loadOf(entry)
      return `${load} ${load === 1 ? 'request' : 'requests'} under way`
    },
  },

  sticky: { order: bySession, needs: 'session', reason: sessionReason },
}

/** The definition of a strategy; the default's for one that only a later version knows. */
export const strategyOf = (strategy: Strategy): StrategyDefinition =>
  strategies[strategy] ?? strategies[DEFAULT_STRATEGY]

/** Why an entry has its place in the group. */
export const reasonOf = ({ group, order, entry }: GroupChoice): string =>
  strategyOf(group.strategy).reason(entry, order.entries.indexOf(entry), order)

/** Smallest figure first, equals as listed; entries without a figure last. */
function least(entries: readonly GroupEntry[], figureOf: (entry: GroupEntry) => number | undefined): GroupEntry[] {
  return entries
    .map((entry) => ({ entry, figure: figureOf(entry) ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => Number(a.figure > b.figure) - Number(a.figure < b.figure))
    .map(({ entry }) => entry)
}

function byWeight(entries: readonly GroupEntry[], { random }: Inputs): readonly GroupEntry[] {
  const left = entries.filter(({ weight }) => weight > 0)
  const drawn: GroupEntry[] = []
  while (left.length > 0) drawn.push(...left.splice(draw(left, random()), 1))
  return [...drawn, ...entries.filter(({ weight }) => weight === 0)]
}

function draw(entries: readonly GroupEntry[], random: number): number {
  let point = random * entries.reduce((sum, { weight }) => sum + weight, 0)
  const at = entries.findIndex(({ weight }) => {
    point -= weight
    return point < 0
  })
  return at < 0 ? entries.length - 1 : at // sums of fractions are not exact
}

/** The fraction of requests that try another entry first, which may have become faster. */
const EXPLORED = 0.05

function byLatency(entries: readonly GroupEntry[], { latencyOf, random }: Inputs): readonly GroupEntry[] {
  const ordered = least(entries, (entry) => latencyOf(entry) ?? -1)
  if (ordered.length < 2 || random() >= EXPLORED) return ordered
  const [other] = ordered.splice(1 + Math.floor(random() * (ordered.length - 1)), 1)
  return other ? [other, ...ordered] : ordered
}

function latencyReason(entry: GroupEntry, place: number, { entries, inputs: { latencyOf } }: GroupOrder): string {
  const next = place === 0 ? entries[1] : undefined
  const ms = latencyOf(entry)
  if (ms === undefined) return 'not measured yet'
  const isExplored = next && (latencyOf(next) ?? -1) < ms
  return `${Math.round(ms)} ms on average${isExplored ? ', tried first now and then to see whether it is faster' : ''}`
}

/**
 * The entry that the session was moved to, otherwise its home: each entry gets a number from the session, its own name and its weight, and
 * the highest wins (weighted rendezvous hashing). So sessions spread by weight, instances agree without communication, and a change of one
 * entry moves only its own sessions. The other entries follow by their numbers. Without a session, as listed.
 */
function bySession(entries: readonly GroupEntry[], { session, label, pin }: Inputs): readonly GroupEntry[] {
  if (session === '') return entries
  const seed = `${label}\n${hashOf(session)}\n` // sessions may be long
  const drawn = entries
    .map((entry) => ({ entry, score: entry.name === pin ? Number.POSITIVE_INFINITY : scoreOf(entry, seed) }))
    .sort((a, b) => Number(a.score < b.score) - Number(a.score > b.score))
  return drawn.map(({ entry }) => entry)
}

function scoreOf({ name, weight }: GroupEntry, seed: string): number {
  const chance = (hashOf(seed + name) + 0.5) / 2 ** 32
  return weight / -Math.log(chance)
}

function sessionReason({ name, index }: GroupEntry, place: number, { inputs: { session, pin } }: GroupOrder): string {
  if (session === '') return `listed ${nth(index)}, since the request has no session`
  if (name === pin) return 'the session was moved here'
  return place === 0 ? 'the session is at home here' : `${nth(place)} for this session`
}

function nth(index: number): string {
  const number = index + 1
  const ending = number % 100 > 10 && number % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th')
  return `${number}${ending}`
}
