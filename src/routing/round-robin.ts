import { startDeadline } from '../lib/deadline.ts'
import type { Clock } from '../types.ts'
import type { Group, GroupEntry, GroupTurn } from './group.ts'
import type { SharedState } from './shared-state.ts'

/** The turns of round-robin groups, by their labels. Changes of a combo reset them (src/rules.md, Rotation of combos). */
export interface RoundRobin {
  /** Takes the next turn. Skips entries that are not usable, unless none is. */
  take(group: Group, isUsable: (entry: GroupEntry) => boolean): Promise<GroupTurn>
  /** The turn that `take` would return: the one after `after`, by default after the last that was taken. */
  peek(group: Group, isUsable: (entry: GroupEntry) => boolean, after?: GroupTurn): Promise<GroupTurn>
  /**
   * Ends a turn that was taken: sets it to the entry that answered, or gives it back when no entry has, unless another request has taken a
   * turn since.
   */
  settle(group: Group, entry: GroupEntry | undefined, taken: GroupTurn): Promise<void>
  /**
   * Joins two turns of one request, so that both can be given back as one; returns the later one alone when another request has taken a turn
   * between them.
   */
  join(earlier: GroupTurn | undefined, later: GroupTurn): GroupTurn
  /** Lets the group start again at its first entry, and the groups below its label as well. */
  reset(label: string): Promise<void>
}

interface WaitingRequest {
  group: Group
  isUsable(entry: GroupEntry): boolean
  resolve(turn: GroupTurn): void
  reject(error: unknown): void
}

/** How often writing a turn is tried against other instances. Then a turn may be taken twice, which is better than waiting longer. */
const MAX_RACES = 50

/** When the storage takes longer to give a turn, in ms, this instance takes the turn by itself. */
const MAX_WAIT_MS = 2_400

/** Makes round-robin on shared state; with a storage, all instances share the turns. */
export function createRoundRobin(state: SharedState, clock: Clock): RoundRobin {
  const queues = new Map<string, WaitingRequest[]>()
  const latest = new Map<string, GroupTurn>() // the latest turn of each label that this instance knows

  const lastOf = async (label: string) => {
    const stored = await state.read(keyOf(label))
    return { last: turnOf(stored?.value), ifVersion: stored?.version ?? null }
  }

  /** All waiting requests take their turns in one write, so that a slow storage does not limit the throughput. */
  async function serve(label: string, queue: WaitingRequest[]) {
    let races = 0
    while (queue.length > 0) {
      const { last, ifVersion } = await lastOf(label)
      const served = [...queue]
      const turns: GroupTurn[] = []
      for (const { group, isUsable } of served) turns.push(nextTurn(turns.at(-1) ?? last, group, isUsable))
      const version = await state.write(keyOf(label), textOf(turns.at(-1)), { ifVersion })
      if (version === false && races++ < MAX_RACES) continue
      const newest = turns.at(-1)
      if (newest) latest.set(label, newest)
      races = 0
      queue.splice(0, served.length)
      for (const [at, turn] of turns.entries())
        served[at]?.resolve(
          at === turns.length - 1 && version ? { ...turn, version, before: textOf(turns[at - 1] ?? last) } : turn,
        )
    }
    queues.delete(label)
  }

  return {
    take: (group, isUsable) =>
      new Promise((resolve, reject) => {
        const { label } = group
        const cancel = startDeadline(clock, MAX_WAIT_MS, () => {
          const turn = nextTurn(latest.get(label), group, isUsable)
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
          for (const left of started) left.reject(error)
        })
      }),
    peek: async (group, isUsable, after) => nextTurn(after ?? (await lastOf(group.label)).last, group, isUsable),
    async settle(group, entry, { index, version, before = '' }) {
      if (entry?.index === index || version === undefined) return
      const text = entry ? textOf({ index: entry.index, times: 1 }) : before
      await state.write(keyOf(group.label), text, { ifVersion: version })
    },
    join: (earlier, later) =>
      earlier && later.before === textOf(earlier) ? { ...later, before: earlier.before ?? '' } : later,
    async reset(label) {
      latest.delete(label)
      await state.drop(keyOf(label))
    },
  }
}

/** The turn after the last one: the same entry until `stickyLimit`, then the next usable one. */
function nextTurn(last: GroupTurn | undefined, group: Group, isUsable: (entry: GroupEntry) => boolean): GroupTurn {
  const { entries, stickyLimit } = group
  const stays = last !== undefined && last.times < stickyLimit
  const start = last === undefined ? 0 : last.index + (stays ? 0 : 1)
  for (let step = 0; step < entries.length; step++) {
    const entry = entries[(start + step) % entries.length]
    if (entry && isUsable(entry)) return { index: entry.index, times: stays && step === 0 ? last.times + 1 : 1 }
  }
  return { index: entries.length > 0 ? start % entries.length : 0, times: 1 }
}

const keyOf = (label: string) => `rotation/${label}`

const textOf = (turn: GroupTurn | undefined) => (turn ? `${turn.index} ${turn.times}` : '')

function turnOf(text: string | undefined): GroupTurn | undefined {
  const [, index, times] = /^(\d{1,9}) (\d{1,9})$/.exec(text ?? '') ?? []
  return index === undefined ? undefined : { index: Number(index), times: Number(times) }
}
