import type { Choice, Entry } from './group.ts'
import type { Inputs } from './strategies/order.ts'

/** Why an entry has its place in the group, in a few words. */
export function reasonOf({ group, chosen, entry }: Choice): string {
  const { entries, inputs } = chosen
  const place = entries.indexOf(entry)
  switch (group.strategy) {
    case 'round-robin':
      return place === 0 ? 'its turn' : `${place} after the one whose turn it is`
    case 'weighted':
      return `drawn ${nth(place)}, weight ${entry.weight} of ${entries.reduce((sum, { weight }) => sum + weight, 0)}`
    case 'random':
      return `drawn ${nth(place)}`
    case 'least-latency':
      return ofLatency(entry, place === 0 ? entries[1] : undefined, inputs)
    case 'least-cost':
      return ofCost(entry, inputs)
    case 'least-busy':
      return ofLoad(inputs.loadOf(entry))
    case 'sticky':
      return ofSession(entry, place, inputs)
    default:
      return `listed ${nth(entry.index)}`
  }
}

const ofLoad = (load: number) => `${load} ${load === 1 ? 'request' : 'requests'} under way`

function ofLatency(entry: Entry, next: Entry | undefined, { latencyOf }: Inputs): string {
  const ms = latencyOf(entry)
  if (ms === undefined) return 'not measured yet'
  const isExplored = next && (latencyOf(next) ?? -1) < ms
  return `${Math.round(ms)} ms on average${isExplored ? ', tried first now and then to see whether it is faster' : ''}`
}

function ofCost(entry: Entry, { costOf }: Inputs): string {
  const cost = costOf(entry)
  return cost === undefined ? 'no known price' : `$${Number(cost.toFixed(4))} per million tokens, input and output`
}

function ofSession({ name, index }: Entry, place: number, { session, pin }: Inputs): string {
  if (session === '') return `listed ${nth(index)}, since the request has no session`
  if (name === pin) return 'the session was moved here'
  return place === 0 ? 'the session is at home here' : `${nth(place)} for this session`
}

function nth(index: number): string {
  const number = index + 1
  const ending = number % 100 > 10 && number % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th')
  return `${number}${ending}`
}
