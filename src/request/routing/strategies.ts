import { hashText } from '../../lib/hash.ts'
import type { Strategy } from '../../types.ts'
import { DEFAULT_STRATEGY, type GroupChoice, type GroupEntry, type GroupOrder, type StrategyInputs } from './group.ts'

/** Returns all entries in the order in which to try them, without changing the list itself. */
export type OrderEntries = (entries: readonly GroupEntry[], inputs: StrategyInputs) => readonly GroupEntry[]

/** A strategy's definition. To add one, add a line to the table below. */
export interface StrategyDefinition {
  order: OrderEntries
  /** The inputs that the choice needs in addition to the entries: the group's turn, the request's session, or target measurements. */
  needs?: 'turn' | 'session' | 'measures'
  /** Whether a choice counts as load immediately. Otherwise, all requests in a burst would find the same target idle. */
  reservesLoad?: true
  /** Explains an entry's position in a few words. */
  explain(entry: GroupEntry, position: number, chosen: GroupOrder): string
}

const keepOrder: OrderEntries = (entries) => entries

const explainListed: StrategyDefinition['explain'] = ({ index }) => `listed ${toOrdinal(index)}`

/** The definition of each strategy. */
export const strategies: Readonly<Record<Strategy, StrategyDefinition>> = {
  fallback: { order: keepOrder, explain: explainListed },

  /** Keeps the listed order. Under every strategy, entries whose `when` doesn't match are excluded beforehand. */
  conditional: { order: keepOrder, explain: explainListed },

  /** Keeps the listed order, starting at the entry whose turn it is. */
  'round-robin': {
    order: (entries, { turnIndex }) => [
      ...entries.filter(({ index }) => index >= turnIndex),
      ...entries.filter(({ index }) => index < turnIndex),
    ],
    needs: 'turn',
    explain: (_, position) => (position === 0 ? 'its turn' : `${position} after the entry whose turn it is`),
  },

  /** Uses weighted random order. Entries with weight 0 come last, as listed. */
  weighted: {
    order: orderByWeight,
    explain: ({ weight }, position, { entries }) =>
      `drawn ${toOrdinal(position)}, weight ${weight} of ${entries.reduce((sum, { weight }) => sum + weight, 0)}`,
  },

  /** Shuffles uniformly. */
  random: {
    order(entries, { random }) {
      const remainingEntries = [...entries]
      return entries.flatMap(() => remainingEntries.splice(Math.floor(random() * remainingEntries.length), 1))
    },
    explain: (_, position) => `drawn ${toOrdinal(position)}`,
  },

  /** Puts the fastest entries first, with ties as listed, and unmeasured entries before all others. */
  'least-latency': { order: orderByLatency, needs: 'measures', explain: explainLatency },

  /** Puts the cheapest entries first, with ties as listed, and entries with an unknown price last. */
  'least-cost': {
    order: (entries, { getCost }) => sortByFigure(entries, getCost),
    explain(entry, _, { inputs }) {
      const cost = inputs.getCost(entry)
      return cost === undefined ? 'price unknown' : `$${Number(cost.toFixed(4))} per million tokens, input and output`
    },
  },

  /** Puts the entries with the fewest in-flight requests first, with ties as listed. */
  'least-busy': {
    order: (entries, { getLoad }) => sortByFigure(entries, getLoad),
    needs: 'measures',
    reservesLoad: true,
    explain(entry, _, { inputs }) {
      const load = inputs.getLoad(entry)
      return `${load} ${load === 1 ? 'request' : 'requests'} in flight`
    },
  },

  sticky: { order: orderBySession, needs: 'session', explain: explainSession },
}

/** Returns a strategy's definition. For a strategy that only a later version supports, returns the default strategy's definition. */
export const getStrategy = (strategy: Strategy): StrategyDefinition =>
  strategies[strategy] ?? strategies[DEFAULT_STRATEGY]

/** Explains an entry's position in its group. */
export const explainChoice = ({ group, order, entry }: GroupChoice): string =>
  getStrategy(group.strategy).explain(entry, order.entries.indexOf(entry), order)

/** Sorts entries by their figure, smallest first, with ties as listed. Entries without a figure come last. */
function sortByFigure(
  entries: readonly GroupEntry[],
  getFigure: (entry: GroupEntry) => number | undefined,
): GroupEntry[] {
  return entries
    .map((entry) => ({ entry, figure: getFigure(entry) ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => Number(a.figure > b.figure) - Number(a.figure < b.figure))
    .map(({ entry }) => entry)
}

function orderByWeight(entries: readonly GroupEntry[], { random }: StrategyInputs): readonly GroupEntry[] {
  const remainingEntries = entries.filter(({ weight }) => weight > 0)
  const drawnEntries: GroupEntry[] = []
  while (remainingEntries.length > 0)
    drawnEntries.push(...remainingEntries.splice(drawIndex(remainingEntries, random()), 1))
  return [...drawnEntries, ...entries.filter(({ weight }) => weight === 0)]
}

function drawIndex(entries: readonly GroupEntry[], random: number): number {
  let point = random * entries.reduce((sum, { weight }) => sum + weight, 0)
  const index = entries.findIndex(({ weight }) => {
    point -= weight
    return point < 0
  })
  return index < 0 ? entries.length - 1 : index // sums of fractions aren't exact, so there may be no match
}

/** The fraction of requests that try another entry first, because it may have become faster. */
const EXPLORATION_RATE = 0.05

function orderByLatency(entries: readonly GroupEntry[], { getLatency, random }: StrategyInputs): readonly GroupEntry[] {
  const sortedEntries = sortByFigure(entries, (entry) => getLatency(entry) ?? -1)
  if (sortedEntries.length < 2 || random() >= EXPLORATION_RATE) return sortedEntries
  const [exploredEntry] = sortedEntries.splice(1 + Math.floor(random() * (sortedEntries.length - 1)), 1)
  return exploredEntry ? [exploredEntry, ...sortedEntries] : sortedEntries
}

function explainLatency(entry: GroupEntry, position: number, { entries, inputs: { getLatency } }: GroupOrder): string {
  const nextEntry = position === 0 ? entries[1] : undefined
  const latencyMs = getLatency(entry)
  if (latencyMs === undefined) return 'latency not measured yet'
  const isExplored = nextEntry && (getLatency(nextEntry) ?? -1) < latencyMs
  return `${Math.round(latencyMs)} ms on average${isExplored ? ', occasionally tried first to see whether it has become faster' : ''}`
}

/**
 * Puts the entry that the session was moved to first, or else its home. To find the home, each entry gets a number from the session, its own name,
 * and its weight, and the highest wins (weighted rendezvous hashing). This way, sessions spread by weight, instances agree without communication, and
 * a change to one entry moves only its own sessions. The other entries follow by their numbers. Without a session, the order is as listed.
 */
function orderBySession(
  entries: readonly GroupEntry[],
  { session, label, pinnedEntryName }: StrategyInputs,
): readonly GroupEntry[] {
  if (session === '') return entries
  const seed = `${label}\n${hashText(session)}\n` // hashed once, because sessions may be long
  const scoredEntries = entries
    .map((entry) => ({
      entry,
      score: entry.name === pinnedEntryName ? Number.POSITIVE_INFINITY : getScore(entry, seed),
    }))
    .sort((a, b) => Number(a.score < b.score) - Number(a.score > b.score))
  return scoredEntries.map(({ entry }) => entry)
}

function getScore({ name, weight }: GroupEntry, seed: string): number {
  const chance = (hashText(seed + name) + 0.5) / 2 ** 32
  return weight / -Math.log(chance)
}

function explainSession(
  { name, index }: GroupEntry,
  position: number,
  { inputs: { session, pinnedEntryName } }: GroupOrder,
): string {
  if (session === '') return `listed ${toOrdinal(index)}; the request has no session`
  if (name === pinnedEntryName) return 'the session was re-pinned here'
  return position === 0 ? 'the session is assigned here' : `${toOrdinal(position)} for this session`
}

function toOrdinal(index: number): string {
  const number = index + 1
  const ending = number % 100 > 10 && number % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th')
  return `${number}${ending}`
}
