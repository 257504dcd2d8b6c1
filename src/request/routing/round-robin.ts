import { startDeadline } from '../../lib/deadline.ts'
import type { Clock } from '../../types.ts'
import type { Group, GroupEntry, GroupTurn } from './group.ts'
import type { SharedState } from './shared-state.ts'

/** The turns of round-robin groups, by label. Changes to a combo reset them (src/rules.md, Rotation of combos). */
export interface RoundRobin {
  /** Takes the next turn. Skips unusable entries, unless all are unusable. */
  take(group: Group, isUsable: (entry: GroupEntry) => boolean): Promise<GroupTurn>
  /** Returns the turn that `take` would return: the one after `after` or, by default, after the last turn taken. */
  peek(group: Group, isUsable: (entry: GroupEntry) => boolean, after?: GroupTurn): Promise<GroupTurn>
  /** Ends a turn: moves it to the entry that responded, or gives it back if none did, unless another request has taken a turn in the meantime. */
  settle(group: Group, entry: GroupEntry | undefined, turn: GroupTurn): Promise<void>
  /**
   * Joins two turns taken by one request, so that both can be given back as one. Returns only the later one if another request has taken a turn in
   * between.
   */
  join(earlier: GroupTurn | undefined, later: GroupTurn): GroupTurn
  /** Restarts the group, and the groups under its label, at the first entry. */
  reset(label: string): Promise<void>
}

interface WaitingRequest {
  group: Group
  isUsable(entry: GroupEntry): boolean
  resolve(turn: GroupTurn): void
  reject(error: unknown): void
}

/**
 * Maximum number of retries when other instances write a turn concurrently. After that, a turn may be taken twice, which is better than waiting
 * longer.
 */
const MAX_RETRIES = 50

/** How long to wait for the storage to return a turn, in ms. After that, the instance takes the turn on its own. */
const MAX_WAIT_MS = 2_400

/** Creates round-robin turns on shared state. With a store, all instances share the turns. */
export function createRoundRobin(state: SharedState, clock: Clock): RoundRobin {
  const queues = new Map<string, WaitingRequest[]>()
  const latest = new Map<string, GroupTurn>() // each label's latest known turn

  const readLast = async (label: string) => {
    const stored = await state.read(getKey(label))
    return { last: parseTurn(stored?.value), ifVersion: stored?.version ?? null }
  }

  /** Takes all waiting requests' turns in one write, so that a slow store doesn't limit throughput. */
  async function serve(label: string, queue: WaitingRequest[]) {
    let retries = 0
    while (queue.length > 0) {
      const { last, ifVersion } = await readLast(label)
      const served = [...queue]
      const turns: GroupTurn[] = []
      for (const { group, isUsable } of served) turns.push(getNextTurn(turns.at(-1) ?? last, group, isUsable))
      const version = await state.write(getKey(label), serializeTurn(turns.at(-1)), { ifVersion })
      if (version === false && retries++ < MAX_RETRIES) continue
      const newest = turns.at(-1)
      if (newest) latest.set(label, newest)
      retries = 0
      queue.splice(0, served.length)
      for (const [index, turn] of turns.entries())
        served[index]?.resolve(
          index === turns.length - 1 && version
            ? { ...turn, version, before: serializeTurn(turns[index - 1] ?? last) }
            : turn,
        )
    }
    queues.delete(label)
  }

  return {
    take: (group, isUsable) =>
      new Promise((resolve, reject) => {
        const { label } = group
        const cancel = startDeadline(clock, MAX_WAIT_MS, () => {
          const turn = getNextTurn(latest.get(label), group, isUsable)
          latest.set(label, turn)
          resolve(turn)
        })
        const settle =
          <T>(end: (value: T) => void) =>
          (value: T) => {
            cancel()
            end(value)
          }
        const waiting = { group, isUsable, resolve: settle(resolve), reject: settle(reject) }
        const queue = queues.get(label)
        if (queue) return void queue.push(waiting)
        const started = [waiting]
        queues.set(label, started)
        serve(label, started).catch((error: unknown) => {
          queues.delete(label)
          for (const request of started) request.reject(error)
        })
      }),
    peek: async (group, isUsable, after) => getNextTurn(after ?? (await readLast(group.label)).last, group, isUsable),
    async settle(group, entry, { index, version, before = '' }) {
      if (entry?.index === index || version === undefined) return
      const text = entry ? serializeTurn({ index: entry.index, times: 1 }) : before
      await state.write(getKey(group.label), text, { ifVersion: version })
    },
    join: (earlier, later) =>
      earlier && later.before === serializeTurn(earlier) ? { ...later, before: earlier.before ?? '' } : later,
    async reset(label) {
      latest.delete(label)
      await state.drop(getKey(label))
    },
  }
}

/** Returns the turn after the last one: the same entry up to `stickyLimit`, then the next usable one. */
function getNextTurn(last: GroupTurn | undefined, group: Group, isUsable: (entry: GroupEntry) => boolean): GroupTurn {
  const { entries, stickyLimit } = group
  const isSticky = last !== undefined && last.times < stickyLimit
  const start = last === undefined ? 0 : last.index + (isSticky ? 0 : 1)
  for (let step = 0; step < entries.length; step++) {
    const entry = entries[(start + step) % entries.length]
    if (entry && isUsable(entry)) return { index: entry.index, times: isSticky && step === 0 ? last.times + 1 : 1 }
  }
  return { index: entries.length > 0 ? start % entries.length : 0, times: 1 }
}

const getKey = (label: string) => `rotation/${label}`

const serializeTurn = (turn: GroupTurn | undefined) => (turn ? `${turn.index} ${turn.times}` : '')

function parseTurn(text: string | undefined): GroupTurn | undefined {
  const [, index, times] = /^(\d{1,9}) (\d{1,9})$/.exec(text ?? '') ?? []
  return index === undefined ? undefined : { index: Number(index), times: Number(times) }
}
