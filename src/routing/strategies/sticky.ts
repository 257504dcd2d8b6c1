import { hashOf } from '../../lib/hash.ts'
import type { Entry } from '../group.ts'
import type { Order } from './order.ts'

/**
 * The entry that the session was moved to, otherwise its home: each entry gets a number from the session, its own name and its weight, and
 * the highest wins (weighted rendezvous hashing). So sessions spread by weight, instances agree without communication, and a change of one
 * entry moves only its own sessions. The other entries follow by their numbers. Without a session, as listed.
 */
export const sticky: Order = (entries, { session, label, pin }) => {
  if (session === '') return entries
  const seed = `${label}\n${hashOf(session)}\n` // sessions may be long
  const drawn = entries
    .map((entry) => ({ entry, score: entry.name === pin ? Number.POSITIVE_INFINITY : scoreOf(entry, seed) }))
    .sort((a, b) => Number(a.score < b.score) - Number(a.score > b.score))
  return drawn.map(({ entry }) => entry)
}

function scoreOf({ name, weight }: Entry, seed: string): number {
  const chance = (hashOf(seed + name) + 0.5) / 2 ** 32
  return weight / -Math.log(chance)
}
