import { startDeadline } from '../../lib/deadline.ts'
import type { Clock } from '../../types.ts'
import type { Group, GroupEntry, GroupTurn } from './group.ts'
import type { SharedState } from './shared-state.ts'

/** The turns of round-robin groups, by label. Changes to a combo reset them (src/rules.md, Rotation of combos). */
export interface RoundRobin {
  /** Takes the next turn. Skips unusable entries, unless all are unusable. */
  take(group: Group, isUsable: (entry: GroupEntry) => boolean): Promise<GroupTurn>
  /** Returns the turn that `take` would return: the one after `previousTurn` or, by default, after the last turn taken. */
  peek(group: Group, isUsable: (entry: GroupEntry) => boolean, after?: GroupTurn): Promise<GroupTurn>
  /** Ends a turn: moves it to the entry that responded, or gives it back if none did, unless another request has taken a turn in the meantime. */
  finishTurn(group: Group, entry: GroupEntry | undefined, turn: GroupTurn): Promise<void>
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
  const latestTurns = new Map<string, GroupTurn>() // each label's latest known turn

  const readLastTurn = async (label: string) => {
    const stored = await state.read(getKey(label))
    return { lastTurn: parseTurn(stored?.value), ifVersion: stored?.version ?? null }
  }

  /** Takes all waiting requests' turns in one write, so that a slow store doesn't limit throughput. */
  async function drainQueue(label: string, queue: WaitingRequest[]) {
    let retries = 0
    while (queue.length > 0) {
      const { lastTurn, ifVersion } = await readLastTurn(label)
      const servedRequests = [...queue]
      const turns: GroupTurn[] = []
      for (const { group, isUsable } of servedRequests)
        turns.push(getNextTurn(turns.at(-1) ?? lastTurn, group, isUsable))
      const version = await state.write(getKey(label), serializeTurn(turns.at(-1)), { ifVersion })
      if (version === false && retries++ < MAX_RETRIES) continue
      const newestTurn = turns.at(-1)
      if (newestTurn) latestTurns.set(label, newestTurn)
      retries = 0
      queue.splice(0, servedRequests.length)
      for (const [index, turn] of turns.entries())
        servedRequests[index]?.resolve(
          index === turns.length - 1 && version
            ? { ...turn, version, previousState: serializeTurn(turns[index - 1] ?? lastTurn) }
            : turn,
        )
    }
    queues.delete(label)
  }

  return {
    take: (group, isUsable) =>
      new Promise((resolve, reject) => {
        const { label } = group
        const cancelDeadline = startDeadline(clock, MAX_WAIT_MS, () => {
          const turn = getNextTurn(latestTurns.get(label), group, isUsable)
          latestTurns.set(label, turn)
          resolve(turn)
        })
        const cancelThen =
          <T>(finish: (value: T) => void) =>
          (value: T) => {
            cancelDeadline()
            finish(value)
          }
        const waitingRequest = { group, isUsable, resolve: cancelThen(resolve), reject: cancelThen(reject) }
        const queue = queues.get(label)
        if (queue) return void queue.push(waitingRequest)
        const newQueue = [waitingRequest]
        queues.set(label, newQueue)
        drainQueue(label, newQueue).catch((error: unknown) => {
          queues.delete(label)
          for (const request of newQueue) request.reject(error)
        })
      }),
    peek: async (group, isUsable, previousTurn) =>
      getNextTurn(previousTurn ?? (await readLastTurn(group.label)).lastTurn, group, isUsable),
    async finishTurn(group, entry, { index, version, previousState = '' }) {
      if (entry?.index === index || version === undefined) return
      const serializedTurn = entry ? serializeTurn({ index: entry.index, times: 1 }) : previousState
      await state.write(getKey(group.label), serializedTurn, { ifVersion: version })
    },
    join: (earlier, later) =>
      earlier && later.previousState === serializeTurn(earlier)
        ? { ...later, previousState: earlier.previousState ?? '' }
        : later,
    async reset(label) {
      latestTurns.delete(label)
      await state.drop(getKey(label))
    },
  }
}

/** Returns the turn after the last one: the same entry up to `stickyLimit`, then the next usable one. */
function getNextTurn(
  lastTurn: GroupTurn | undefined,
  group: Group,
  isUsable: (entry: GroupEntry) => boolean,
): GroupTurn {
  const { entries, stickyLimit } = group
  const isSticky = lastTurn !== undefined && lastTurn.times < stickyLimit
  const start = lastTurn === undefined ? 0 : lastTurn.index + (isSticky ? 0 : 1)
  for (let step = 0; step < entries.length; step++) {
    const entry = entries[(start + step) % entries.length]
    if (entry && isUsable(entry)) return { index: entry.index, times: isSticky && step === 0 ? lastTurn.times + 1 : 1 }
  }
  return { index: entries.length > 0 ? start % entries.length : 0, times: 1 }
}

const getKey = (label: string) => `rotation/${label}`

const serializeTurn = (turn: GroupTurn | undefined) => (turn ? `${turn.index} ${turn.times}` : '')

function parseTurn(text: string | undefined): GroupTurn | undefined {
  const [, index, times] = /^(\d{1,9}) (\d{1,9})$/.exec(text ?? '') ?? []
  return index === undefined ? undefined : { index: Number(index), times: Number(times) }
}
