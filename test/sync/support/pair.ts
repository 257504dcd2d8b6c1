import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { gatewayError } from '../../../src/errors.ts'
import type { SyncRequest, SyncResponse } from '../../../src/features/cloud-sync/protocol.ts'
import { MAX_STATES } from '../../../src/features/cloud-sync/protocol.ts'
import { getNextStamps, hasSameLastSync, type Stamps } from '../../../src/features/cloud-sync/proxy/replica-records.ts'
import { syncReplicas } from '../../../src/features/cloud-sync/sync-replicas.ts'
import type { Conflict, SyncProgress, SyncResult } from '../../../src/features/cloud-sync/sync-types.ts'
import type { Clock, Storage } from '../../../src/types.ts'
import { openSide, type Side, type SideOptions } from './sides.ts'

/** The proxy's stored record of the replica. */
interface MirrorRecord extends Stamps {
  id: string
}

/** Opens the proxy's side of the protocol on a store, without sessions. */
export function openProxy(input: Omit<SideOptions, 'side'> & { storage: Storage }) {
  const { storage } = input
  const side = openSide({ ...input, side: 'cloud' })
  const replicas = new Map<string, ReturnType<Side['replica']>>()
  const newId = () => crypto.randomUUID()

  const read = async (): Promise<MirrorRecord | undefined> => {
    const stored = await storage.get('mirror')
    return stored && JSON.parse(stored.value)
  }
  const write = async (record: MirrorRecord) => void (await storage.set('mirror', JSON.stringify(record)))

  async function mirrorFor(request: SyncRequest): Promise<{ mirror: MirrorRecord; isDiverged: boolean }> {
    const stored = await read()
    if (stored && stored.id === request.mirror) {
      const isDiverged = !hasSameLastSync(stored, request)
      if (isDiverged && !request.full) throw createRejection('HISTORY_DIVERGED')
      return { mirror: stored, isDiverged }
    }
    if (!request.create || request.changes.length > 0 || request.seen.length > 0) throw createRejection('MIRROR_GONE')
    const mirror = { id: newId(), current: newId(), previous: null }
    await write(mirror)
    return { mirror, isDiverged: false }
  }

  async function sync(text: string): Promise<SyncResponse> {
    const request: SyncRequest = JSON.parse(text)
    const { mirror, isDiverged } = await mirrorFor(request)
    const replica = replicas.get(mirror.id) ?? side.replica(mirror.id)
    replicas.set(mirror.id, replica)
    if (request.full) await replica.markAllUnseen({ isDiverged })
    await replica.confirm(request.seen)
    const verdicts = await replica.accept(request.changes)
    const { states, more } = await replica.listUnseen(MAX_STATES)
    const stamps = getNextStamps(mirror, request, { states: states.length, createStamp: newId })
    await write({ id: mirror.id, ...stamps })
    const response: SyncResponse = { mirror: mirror.id, stamp: stamps.current, verdicts, changes: states, more }
    return JSON.parse(JSON.stringify(response))
  }

  return { ...side, sync, storage }
}

export const createRejection = (code: string) =>
  gatewayError('CLOUD_FAILED', { message: `The proxy refused: ${code}.`, data: { refusal: code } })

export type CloudEnd = ReturnType<typeof openProxy>

/** Opens a gateway's side of the protocol on a store. */
export function openHome(input: Omit<SideOptions, 'side'> & { storage: Storage }) {
  const { storage } = input
  const side = openSide({ ...input, side: 'gateway' })

  const state = async (): Promise<SyncProgress> => {
    const stored = await storage.get('cloud/state')
    return stored ? JSON.parse(stored.value) : { mirror: null, stamp: null }
  }

  /** Syncs. `reported` receives each conflict immediately. */
  async function sync(
    send: (text: string) => Promise<SyncResponse>,
    { create, signal = new AbortController().signal, reported }: SyncOptions = {},
  ): Promise<SyncResult> {
    return syncReplicas({
      createReplica: side.replica,
      send: (request) => send(JSON.stringify(request)),
      state: await state(),
      refresh: state,
      save: async (next) => void (await storage.set('cloud/state', JSON.stringify(next))),
      signal,
      ...(create && { create }),
      ...(reported && { onConflict: async (conflict) => void reported.push(conflict) }),
    })
  }

  return { ...side, sync, storage }
}

interface SyncOptions {
  create?: boolean
  signal?: AbortSignal
  reported?: Conflict[]
}

export type Home = ReturnType<typeof openHome>

/** Opens both sides on separate storages, synced once. */
export async function openPair(
  clock: Clock,
  { home: homeStorage = memoryStorage(), cloud: cloudStorage = memoryStorage(), ...extra }: PairOptions = {},
) {
  const home = openHome({ storage: homeStorage, clock })
  const cloud = openProxy({ storage: cloudStorage, clock, ...extra })
  await home.sync(cloud.sync, { create: true })
  return { home, cloud, sync: () => home.sync(cloud.sync) }
}

type PairOptions = Partial<Omit<SideOptions, 'side' | 'storage'>> & { home?: Storage; cloud?: Storage }

/** Returns the synced records of a side, without order and key values, which differ. */
export async function getData({ store }: Side): Promise<Record<string, unknown>> {
  const all = await store.keys.all()
  const keys = all
    .filter(({ id }, index) => all.findIndex((other) => other.id === id) === index) // an interrupted change of a key's value leaves two records
    .map(({ sealedKey, mac, sha256, edit, isActive, ...key }) => ({ ...key, isActive: isActive !== false }))
  const connections = (await store.connections.all()).map(({ sealedApiKey, edit, isActive, ...connection }) => ({
    ...connection,
    isActive: isActive !== false,
    hasKey: sealedApiKey !== undefined,
  }))
  const { requireApiKey } = await store.settings.read()
  return {
    settings: { requireApiKey },
    keys: byText(keys),
    connections: byText(connections),
    combos: byText((await store.combos.all()).map(({ revision, ...combo }) => combo)),
    customModels: byText(await store.customModels.all()),
    aliases: byText(await store.aliases.all()),
    providers: byText(await store.providers.all()),
  }
}

const byText = (records: readonly object[]) =>
  records
    .map((record) => JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(record).sort()))))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
