import { hashOf } from '../../lib/hash.ts'
import type { Entry } from '../group.ts'
import type { Order } from './order.ts'

/**
 * Where the session was moved to, else where it is at home: each entry draws a number by the session, its own name and weight, and the
 * highest wins (weighted rendezvous hashing). So sessions spread by weight, every instance agrees without asking, and when an entry comes
 * or goes only its own sessions move. The others follow by their numbers. Without a session, as listed.
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
