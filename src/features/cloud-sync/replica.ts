import { createMutex } from '../../lib/promises.ts'
import { retryOnConflict } from '../../records/storage-access.ts'
import type { Storage } from '../../types.ts'
import { StateApplier } from './apply-state.ts'
import { resolveCollisions } from './collisions.ts'
import { type Active, advanceRevision, compareRevisions } from './merge.ts'
import { type Confirmation, collections, type RecordState, type Verdict } from './protocol.ts'
import { type PendingState, Scanner } from './scanner.ts'
import { confirmShadow, type Shadow } from './shadows.ts'
import type { Rejection, Replica, ReplicaOptions, Side, StateId } from './sync-types.ts'

/** In-memory data that all `Replica` objects for one replica share. */
interface ReplicaMemory {
  scanner: Scanner
  applier: StateApplier
  runExclusive: ReturnType<typeof createMutex>
  hasScanned: boolean
  /** The states to send, as of the last full scan. */
  pending: PendingState[]
  rejected: Rejection[]
}

const memories = new WeakMap<Storage, Map<string, ReplicaMemory>>()

function getMemory(options: ReplicaOptions): ReplicaMemory {
  const { store, replicaId } = options
  const storeMemories = memories.get(store.storage) ?? new Map<string, ReplicaMemory>()
  memories.set(store.storage, storeMemories)
  const existing = storeMemories.get(replicaId)
  if (existing) return existing
  const scanner: Scanner = new Scanner(options, (collection, scanned) => applier.cleanUp(collection, scanned))
  const applier = new StateApplier(options, scanner)
  const memory = { scanner, applier, runExclusive: createMutex(), hasScanned: false, pending: [], rejected: [] }
  storeMemories.set(replicaId, memory)
  return memory
}

/** Creates one side of a replica from the records of a store. Calls run one at a time. */
export function createReplica(options: ReplicaOptions): Replica {
  const { side, clock } = options
  const memory = getMemory(options)
  const { scanner, applier, runExclusive } = memory
  const { shadows, tables } = scanner

  async function scan(): Promise<void> {
    const { pending, rejected } = await scanner.scan()
    memory.hasScanned = true
    memory.pending = pending
    memory.rejected = rejected
  }

  /** Scans all records once. After that, scanning individual records is enough. */
  const ensureScanned = () => (memory.hasScanned ? shadows.load() : scan())

  const runScanned = <T>(work: () => Promise<T>) =>
    runExclusive(async () => {
      await ensureScanned()
      return work()
    })

  /** Reads a record's state. Resolves to `undefined` if the record has changed since the scan or was confirmed in the meantime. */
  async function readState({ item, ...stateId }: PendingState): Promise<RecordState | undefined> {
    const shadow = shadows.get(stateId)?.shadow
    if (!shadow || shadow.isSeen) return undefined
    const { hash, revision, base, active, isUncertain } = shadow
    const stateFields = {
      ...stateId,
      revision,
      ...(isUncertain && base && { base }),
      ...(active && { active: isUncertain ? active : { isActive: active.isActive, revision: active.revision } }),
    }
    if (hash === null) return { ...stateFields, record: null }
    if (!item) return undefined
    const { record, isActive, key } = await tables[stateId.collection].read(item)
    if (isActive !== active?.isActive || (await scanner.hashRecord(stateId, record)) !== hash) return undefined
    return { ...stateFields, record: side === 'cloud' && key !== undefined ? { ...record, key } : record }
  }

  const changeShadow = (stateId: StateId, change: (shadow: Shadow) => Shadow | undefined) =>
    retryOnConflict(async () => {
      const knownShadow = shadows.get(stateId)
      const changedShadow = knownShadow && change(knownShadow.shadow)
      return (
        !knownShadow ||
        !changedShadow ||
        (await shadows.put(stateId.collection, changedShadow, knownShadow)) !== undefined
      )
    })

  async function confirmState(confirmation: Confirmation): Promise<void> {
    const isConfirmed = (shadow: Shadow) =>
      compareRevisions(shadow.revision, confirmation.revision) === 'same' &&
      (shadow.hash === null ||
        !shadow.active ||
        (confirmation.activeRevision !== undefined &&
          compareRevisions(shadow.active.revision, confirmation.activeRevision) === 'same'))
    const shadow = shadows.get(confirmation)?.shadow
    if (!shadow || shadow.isSeen || !isConfirmed(shadow)) return
    if (confirmation.collection === 'keys') await applier.forgetValue(confirmation, isConfirmed)
    await changeShadow(confirmation, (current) => (isConfirmed(current) ? confirmShadow(current) : undefined))
  }

  return {
    accept: (states) =>
      runScanned(async () => {
        const verdicts: Verdict[] = []
        for (const batch of groupIndependent(states, (state) => shadows.get(state)?.shadow))
          verdicts.push(...(await Promise.all(batch.map((state) => applier.apply(state)))))
        return verdicts
      }),
    merge: (remote, report = async () => {}) => runScanned(() => applier.apply(remote, report)),

    listUnseen: (limit, isExcluded = () => false) =>
      runExclusive(async () => {
        if (memory.pending.length === 0) await scan()
        const states: RecordState[] = []
        let totalLength = 0
        let consumedCount = 0
        for (const pendingState of memory.pending) {
          if (states.length >= limit || totalLength > MAX_MESSAGE_CHARACTERS) break
          const state = isExcluded(pendingState) ? undefined : await readState(pendingState)
          const length = state ? JSON.stringify(state).length : 0
          if (length > MAX_MESSAGE_CHARACTERS) {
            const { collection, id } = pendingState
            memory.rejected.push({ collection, id, message: TOO_LARGE_MESSAGE, code: 'INVALID' })
            consumedCount++
            continue
          }
          if (state && states.length > 0 && totalLength + length > MAX_MESSAGE_CHARACTERS) break
          consumedCount++
          totalLength += length
          if (state) states.push(state)
        }
        memory.pending = memory.pending.slice(consumedCount)
        return { states, more: memory.pending.length > 0, rejected: memory.rejected }
      }),

    confirm: (confirmations) => runScanned(() => runInBatches(confirmations, confirmState)),

    markAllUnseen: ({ isDiverged = false } = {}) =>
      runScanned(async () => {
        for (const collection of collections) {
          const ids = [...shadows.list(collection)].map(({ shadow }) => shadow.id)
          await runInBatches(ids, (id) =>
            changeShadow({ collection, id }, (shadow) =>
              shadow.isSeen || (isDiverged && !shadow.isUncertain)
                ? { ...(isDiverged ? markUncertain(shadow, side, clock.now()) : shadow), isSeen: false }
                : undefined,
            ),
          )
        }
        memory.pending = []
      }),

    resolveCollisions: (report = async () => {}) => runScanned(() => resolveCollisions({ scanner, clock, report })),
    forgetOtherReplicas: () => runExclusive(() => shadows.removeOtherReplicas()),
  }
}

/**
 * Marks a shadow as uncertain after a restore from an old copy. The next counts may already have been used, so changed registers continue from
 * `atLeast`.
 */
function markUncertain(shadow: Shadow, side: Side, atLeast: number): Shadow {
  const raiseRevision = <Register extends Pick<Active, 'revision' | 'base'>>(register: Register): Register =>
    register.base ? { ...register, revision: advanceRevision(register.revision, side, atLeast) } : register
  const { active } = shadow
  return { ...raiseRevision(shadow), ...(active && { active: raiseRevision(active) }), isUncertain: true }
}

/** Maximum characters of JSON per message. Each character takes up to three bytes, and encryption adds a third. */
const MAX_MESSAGE_CHARACTERS = 1_500_000

const TOO_LARGE_MESSAGE = 'It has more than 1,500,000 characters, which is too large to sync. Shorten it.'

const MAX_CONCURRENCY = 32

async function runInBatches<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < items.length; start += MAX_CONCURRENCY)
    await Promise.all(items.slice(start, start + MAX_CONCURRENCY).map(work))
}

/** Splits states, in order, into runs that can each be applied concurrently. Applying states one at a time is slow on remote storage. */
function* groupIndependent(
  states: readonly RecordState[],
  getShadow: (state: RecordState) => Shadow | undefined,
): Generator<RecordState[]> {
  let batch: RecordState[] = []
  const batchNames = new Set<unknown>() // the IDs and digests in the current run
  for (const state of states) {
    const stateNames = [
      `${state.collection}/${state.id}`,
      ...(state.collection === 'keys' ? [state.record?.digest] : []),
    ]
    const canJoin =
      batch.length < MAX_CONCURRENCY &&
      isIndependent(state, getShadow(state)) &&
      !stateNames.some((name) => batchNames.has(name))
    if (!canJoin || batch.some((batchState) => !isIndependent(batchState, getShadow(batchState)))) {
      if (batch.length > 0) yield batch
      batch = []
      batchNames.clear()
    }
    batch.push(state)
    for (const name of stateNames) batchNames.add(name)
  }
  if (batch.length > 0) yield batch
}

/**
 * Returns whether applying a state changes only its own record. Combos can displace each other, and a key with a new value releases its old digest.
 */
function isIndependent({ collection, revision, record }: RecordState, shadow: Shadow | undefined): boolean {
  if (collection === 'keys')
    return record !== null && (!shadow || compareRevisions(revision, shadow.revision) === 'same')
  return collection !== 'combos' && collection !== 'settings'
}
