import { createMutex } from '../lib/promises.ts'
import { retryLostRace } from '../store/storage-access.ts'
import type { Storage } from '../types.ts'
import { settleCollisions } from './collisions.ts'
import { type Active, changed, relation } from './merge.ts'
import { collections, type MirrorState, type Seen, type Verdict } from './protocol.ts'
import { createScanner, type PendingState, type Scanner } from './scanner.ts'
import { confirmed, type Shadow } from './shadows.ts'
import { createTaker, type Taker } from './take.ts'
import type { Refusal, Replica, ReplicaOptions, Side, StateId } from './types.ts'

/** The state of a mirror in memory, shared by all replicas of it. */
interface ReplicaMemory {
  scanner: Scanner
  taker: Taker
  inTurn: ReturnType<typeof createMutex>
  hasScanned: boolean
  /** The states to be sent, as of the last scan of all records. */
  pending: PendingState[]
  refused: Refusal[]
}

const memories = new WeakMap<Storage, Map<string, ReplicaMemory>>()

/** Replicas of one mirror of one store share what they know of it. */
function memoryOf(options: ReplicaOptions): ReplicaMemory {
  const { store, mirror } = options
  const ofStore = memories.get(store.storage) ?? new Map<string, ReplicaMemory>()
  memories.set(store.storage, ofStore)
  const known = ofStore.get(mirror)
  if (known) return known
  const scanner = createScanner(options, (collection, look) => taker.tidy(collection, look))
  const taker = createTaker(options, scanner)
  const memory = { scanner, taker, inTurn: createMutex(), hasScanned: false, pending: [], refused: [] }
  ofStore.set(mirror, memory)
  return memory
}

/** The records of a store as one side of a mirror. Its calls are carried out one after the other. */
export function createReplica(options: ReplicaOptions): Replica {
  const { side, clock } = options
  const memory = memoryOf(options)
  const { scanner, taker, inTurn } = memory
  const { shadows, tables } = scanner

  async function scan(): Promise<void> {
    const { pending, refused } = await scanner.scan()
    memory.hasScanned = true
    memory.pending = pending
    memory.refused = refused
  }

  /** Once all records have been looked at, one at a time will do. */
  const ready = () => (memory.hasScanned ? shadows.load() : scan())

  const alone = <T>(work: () => Promise<T>) =>
    inTurn(async () => {
      await ready()
      return work()
    })

  /** The state of a record as it was looked at; `undefined` when it is another one now, or confirmed. */
  async function stateOf({ item, ...where }: PendingState): Promise<MirrorState | undefined> {
    const shadow = shadows.get(where)?.shadow
    if (!shadow || shadow.isSeen) return undefined
    const { hash, revision, base, active, isUncertain } = shadow
    const sent = {
      ...where,
      revision,
      ...(isUncertain && base && { base }),
      ...(active && { active: isUncertain ? active : { isActive: active.isActive, revision: active.revision } }),
    }
    if (hash === null) return { ...sent, record: null }
    if (!item) return undefined
    const { record, isActive, key } = await tables[where.collection].read(item)
    if (isActive !== active?.isActive || (await scanner.hashOf(where, record)) !== hash) return undefined
    return { ...sent, record: side === 'cloud' && key !== undefined ? { ...record, key } : record }
  }

  /** Changes the shadow of a record, if it has one and `change` does not leave it as it is. */
  const changeShadow = (where: StateId, change: (shadow: Shadow) => Shadow | undefined) =>
    retryLostRace(async () => {
      const known = shadows.get(where)
      const next = known && change(known.shadow)
      return !known || !next || (await shadows.put(where.collection, next, known)) !== undefined
    })

  async function confirmOne(seen: Seen): Promise<void> {
    const isIt = (shadow: Shadow) =>
      relation(shadow.revision, seen.revision) === 'same' &&
      (shadow.hash === null ||
        !shadow.active ||
        (seen.activeRevision !== undefined && relation(shadow.active.revision, seen.activeRevision) === 'same'))
    const shadow = shadows.get(seen)?.shadow
    if (!shadow || shadow.isSeen || !isIt(shadow)) return
    if (seen.collection === 'keys') await taker.forgetValue(seen)
    await changeShadow(seen, (current) => (isIt(current) ? confirmed(current) : undefined))
  }

  return {
    accept: (states) =>
      alone(async () => {
        const verdicts: Verdict[] = []
        for (const run of runsOf(states, (state) => shadows.get(state)?.shadow))
          verdicts.push(...(await Promise.all(run.map((state) => taker.take(state)))))
        return verdicts
      }),
    settle: (remote, report = async () => {}) => alone(() => taker.take(remote, { report })),

    unseen: (limit, isLeftOut = () => false) =>
      inTurn(async () => {
        if (memory.pending.length === 0) await scan()
        const states: MirrorState[] = []
        let size = 0
        let taken = 0
        for (const one of memory.pending) {
          if (states.length >= limit || size > MOST_CHARACTERS) break
          const state = isLeftOut(one) ? undefined : await stateOf(one)
          const length = state ? JSON.stringify(state).length : 0
          if (length > MOST_CHARACTERS) {
            const { collection, id } = one
            memory.refused.push({ collection, id, message: TOO_LARGE, code: 'INVALID' })
            taken++
            continue
          }
          if (state && states.length > 0 && size + length > MOST_CHARACTERS) break
          taken++
          size += length
          if (state) states.push(state)
        }
        memory.pending = memory.pending.slice(taken)
        return { states, more: memory.pending.length > 0, refused: memory.refused }
      }),

    confirm: (seen) => alone(() => inBatches(seen, confirmOne)),

    markAllUnseen: ({ isDiverged = false } = {}) =>
      alone(async () => {
        for (const collection of collections) {
          const all = [...shadows.of(collection)].map(({ shadow }) => shadow.id)
          await inBatches(all, (id) =>
            changeShadow({ collection, id }, (shadow) =>
              shadow.isSeen || (isDiverged && !shadow.isUncertain)
                ? { ...(isDiverged ? uncertain(shadow, side, clock.now()) : shadow), isSeen: false }
                : undefined,
            ),
          )
        }
        memory.pending = []
      }),

    settleCollisions: (report = async () => {}) => alone(() => settleCollisions({ scanner, clock, report })),
    forgetOthers: () => inTurn(() => shadows.removeOthers()),
  }
}

/** A shadow whose counts may have been given before, when this side has got an old copy back: those of what has changed go on from a time. */
function uncertain(shadow: Shadow, side: Side, at: number): Shadow {
  const raised = <Register extends Pick<Active, 'revision' | 'base'>>(register: Register): Register =>
    register.base ? { ...register, revision: changed(register.revision, side, at) } : register
  const { active } = shadow
  return { ...raised(shadow), ...(active && { active: raised(active) }), isUncertain: true }
}

/** What the states of one message may take as JSON, in characters; each takes up to three bytes, and sealed a third more. */
const MOST_CHARACTERS = 1_500_000

const TOO_LARGE = 'It has more than 1,500,000 characters, too many for a mirror. Shorten it.'

const AT_ONCE = 32

async function inBatches<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < all.length; from += AT_ONCE) await Promise.all(all.slice(from, from + AT_ONCE).map(work))
}

/** The states in their order, in runs of those that can be taken at once: a storage that is far away would take long for one after the other. */
function* runsOf(
  states: readonly MirrorState[],
  shadowOf: (state: MirrorState) => Shadow | undefined,
): Generator<MirrorState[]> {
  let run: MirrorState[] = []
  const met = new Set<unknown>() // what the states of the run are about
  for (const state of states) {
    const own = [`${state.collection}/${state.id}`, ...(state.collection === 'keys' ? [state.record?.digest] : [])]
    const isOfRun = run.length < AT_ONCE && isApart(state, shadowOf(state)) && !own.some((one) => met.has(one))
    if (!isOfRun || run.some((one) => !isApart(one, shadowOf(one)))) {
      if (run.length > 0) yield run
      run = []
      met.clear()
    }
    run.push(state)
    for (const one of own) met.add(one)
  }
  if (run.length > 0) yield run
}

/** Does taking a state change its own record alone? Combos make room for each other, and a key that gets another value releases the one before. */
function isApart({ collection, revision, record }: MirrorState, shadow: Shadow | undefined): boolean {
  if (collection === 'keys') return record !== null && (!shadow || relation(revision, shadow.revision) === 'same')
  return collection !== 'combos' && collection !== 'settings'
}
