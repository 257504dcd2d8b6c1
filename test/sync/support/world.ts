import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { isGatewayError } from '../../../src/errors.ts'
import type { Conflict } from '../../../src/features/cloud-sync/sync-types.ts'
import { decryptKey, sha256Hex } from '../../../src/records/keyring.ts'
import type { Clock, Storage } from '../../../src/types.ts'
import { createTransport, type Fault, type Mortal, mortal } from './faults.ts'
import { type CloudEnd, type Home, openHome, openProxy } from './pair.ts'
import type { Side } from './sides.ts'

export type SideName = 'home' | 'cloud'

/** An administrator's action. `pick` selects the record. */
export interface Edit {
  do: 'create' | 'change' | 'delete' | 'pause' | 'resume' | 'swap combos' | 'require keys' | 'give another value'
  what: Kind
  pick: number
}

export const kinds = ['keys', 'combos', 'connections', 'aliases', 'providers', 'customModels'] as const
export type Kind = (typeof kinds)[number]

/** A record's observed state: a string that changes with every edit and, for some records, whether it is active. */
export interface Received {
  tag: string
  isActive?: boolean
  /** Identifies the last call that set these values. Only its own side knows it. */
  edit?: string
}
export type View = Map<string, Received>

/** Both sides and their administrators' actions. */
export interface World {
  edit(side: SideName, edit: Edit): Promise<void>
  /** Resolves to whether the sync completed. */
  sync(faults?: readonly Fault[]): Promise<boolean>
  /** Kills the process of a side at a write during the next action. */
  dieAfter(side: SideName, writes: number, isMade: boolean): void
  /** Runs work before a side's next write. */
  interruptAfter(side: SideName, writes: number, work: () => Promise<void>): void
  /** Restarts the processes of sides that died, or of all sides. */
  restart(which?: SideName): void
  view(side: SideName): Promise<View>
  /** Copies a side's entire storage. */
  copy(side: SideName): Promise<Texts>
  /** Replaces a side's storage with a copy, and restarts its process. */
  putBack(side: SideName, copy: Texts): Promise<void>
  /** All conflicts reported so far. */
  conflicts: Conflict[]
  refused: object[]
  sides(): Record<SideName, Side>
}

const NAMES = ['one', 'two', 'three']
const HOUR_MS = 3_600_000

/** The initial records, which both sides have. */
const FIRST: Edit['what'][] = ['keys', 'keys', 'combos', 'combos', 'connections', 'aliases']

/** Creates the initial records. */
export async function furnish(side: Side, tag: () => string): Promise<void> {
  for (const [pick, label] of FIRST.entries()) await perform(side, { do: 'create', what: label, pick }, tag)
}

export function createTags(): () => string {
  let last = 0
  return () => `t${++last}`
}

const START = Date.UTC(2026, 0, 1)
export type Texts = { key: string; value: string }[]
const prepared = new Map<number, Promise<Record<SideName, Texts>>>()

/** Creates the storages of two equal sides, once per variant, because record IDs are random. */
async function prepare(): Promise<Record<SideName, Texts>> {
  const storages = { home: memoryStorage(), cloud: memoryStorage() }
  const home = openHome({ storage: storages.home, clock: getClock(() => START) })
  const cloud = openProxy({ storage: storages.cloud, clock: getClock(() => START) })
  await furnish(home, createTags())
  await home.sync(cloud.sync, { create: true })
  return { home: await storages.home.list(''), cloud: await storages.cloud.list('') }
}

async function copyStorage(texts: Texts): Promise<Storage> {
  const storage = memoryStorage()
  for (const { key, value } of texts) await storage.set(key, value)
  return storage
}

/** Creates a world. With `isBlind`, old requests are replayed as if the proxy didn't check stamps. */
export async function createWorld(variant: number, { isBlind = true } = {}): Promise<World> {
  const texts = prepared.get(variant) ?? prepare()
  prepared.set(variant, texts)
  const storages = { home: await copyStorage((await texts).home), cloud: await copyStorage((await texts).cloud) }
  const transport = createTransport({ isBlind })
  const conflicts: Conflict[] = []
  const rejected: object[] = []
  let now = START
  const clocks = { home: getClock(() => now), cloud: getClock(() => now + HOUR_MS) }
  let disks = { home: mortal(storages.home), cloud: mortal(storages.cloud) }
  let home: Home = openHome({ storage: disks.home, clock: clocks.home })
  let cloud: CloudEnd = openProxy({ storage: disks.cloud, clock: clocks.cloud })

  function restart(which?: SideName): void {
    if (which === 'home' || disks.home.isDead()) {
      home.store.close()
      disks = { ...disks, home: mortal(storages.home) }
      home = openHome({ storage: disks.home, clock: clocks.home })
    }
    if (which === 'cloud' || disks.cloud.isDead()) {
      cloud.store.close()
      disks = { ...disks, cloud: mortal(storages.cloud) }
      cloud = openProxy({ storage: disks.cloud, clock: clocks.cloud })
    }
  }

  const sides = () => ({ home, cloud })
  const disk = (side: SideName): Mortal => disks[side]
  const tag = createTags()
  for (const _ of FIRST) tag()
  tag() // skips one tag, because the connection uses two

  return {
    sides,
    conflicts,
    refused: rejected,
    restart,
    dieAfter: (side, writes, isMade) => disk(side).dieAfter(writes, { isMade }),
    interruptAfter: (side, writes, action) => disk(side).interruptAfter(writes, action),
    view: (side) => getView(sides()[side]),
    copy: (side) => storages[side].list(''),
    async putBack(side, copy) {
      storages[side] = await copyStorage(copy)
      restart(side)
    },
    async edit(side, edit) {
      now += 60_000
      await perform(sides()[side], edit, tag).catch((error: unknown) => {
        if (disk(side).isDead() || isRefused(error)) return
        throw error
      })
    },
    async sync(faults = []) {
      now += 60_000
      try {
        const done = await home.sync(transport(cloud, faults), { reported: conflicts })
        rejected.push(...done.rejected)
        return true
      } catch (error) {
        if (faults.length === 0 && !disks.home.isDead() && !disks.cloud.isDead()) throw error
        return false
      }
    },
  }
}

/** Creates a clock whose sleeps never end, because nothing awaited in these tests takes time. */
export const getClock = (now: () => number): Clock => ({
  now,
  sleep: () => new Promise(() => {}),
  setTimer: () => () => {},
})

export const isRefused = (error: unknown) =>
  isGatewayError(error) && ['NAME_TAKEN', 'NOT_FOUND', 'INVALID_REQUEST'].includes(error.code)

/** Performs an administrator's action. `tag` makes each change unique. */
export async function perform({ api, store }: Side, edit: Edit, tag: () => string): Promise<void> {
  const name = NAMES[edit.pick % NAMES.length] ?? ''
  const choose = <T>(all: readonly T[]) => all[edit.pick % Math.max(1, all.length)]
  if (edit.do === 'require keys') return void (await api.settings.update({ requireApiKey: edit.pick % 2 === 0 }))
  if (edit.do === 'give another value') {
    const key = choose(await store.keys.all())
    if (key) await api.keys.put({ id: key.id, name: key.name, key: `sbx_${tag().padEnd(40, 'x')}` })
    return
  }
  if (edit.do === 'swap combos') {
    const [first, second] = await store.combos.all()
    if (!first || !second) return
    await api.combos.update(first.id, { name: 'aside', models: [`acme/${tag()}`] })
    await api.combos.update(second.id, { name: first.name, models: [`acme/${tag()}`] })
    await api.combos.update(first.id, { name: second.name, models: [`acme/${tag()}`] })
    return
  }
  const isActive = edit.do === 'resume'
  switch (edit.what) {
    case 'keys': {
      if (edit.do === 'create') return void (await api.keys.create({ name: tag() }))
      const id = choose(await store.keys.all())?.id
      if (id === undefined) return
      if (edit.do === 'delete') return void (await api.keys.delete(id))
      return void (await api.keys.update(id, edit.do === 'change' ? { name: tag() } : { isActive }))
    }
    case 'combos': {
      if (edit.do === 'create') return void (await api.combos.create({ name, models: [`acme/${tag()}`] }))
      const id = choose(await store.combos.all())?.id
      if (id === undefined) return
      if (edit.do === 'delete') return void (await api.combos.delete(id))
      const renames = edit.do === 'pause' || edit.do === 'resume'
      return void (await api.combos.update(id, { models: [`acme/${tag()}`], ...(renames && { name }) }))
    }
    case 'connections': {
      const input = { id: name, provider: 'acme' }
      if (edit.do === 'create')
        return void (await api.connections.put({ ...input, name: tag(), apiKey: `key-${tag()}` }))
      const id = choose(await store.connections.all())?.id
      if (id === undefined) return
      if (edit.do === 'delete') return void (await api.connections.delete(id))
      return void (await api.connections.update(id, edit.do === 'change' ? { name: tag() } : { isActive }))
    }
    case 'aliases':
      if (edit.do === 'delete') return void (await api.aliases.delete(name))
      return void (await api.aliases.set({ alias: name, model: `acme/${tag()}` }))
    case 'providers': {
      const stickyLimit = Number(tag().slice(1))
      return void (await api.providers.update(choose(['acme', 'other']) ?? '', {
        strategy: 'round-robin',
        stickyLimit,
      }))
    }
    case 'customModels':
      if (edit.do === 'delete') return void (await api.customModels.delete('acme', name))
      return void (await api.customModels.put({ providerAlias: 'acme', id: name }))
  }
}

/** Returns the synced records in a form that shows their changes. */
export async function getView({ store }: Side): Promise<View> {
  const view: View = new Map()
  const add = (id: string, tag: unknown, { isActive, edit }: Partial<Received> = {}) => {
    if (view.has(id)) return
    view.set(id, { tag: JSON.stringify(tag), ...(isActive !== undefined && { isActive }), ...(edit && { edit }) })
  }
  const getFlag = ({ isActive = true, edit }: Partial<Received>) => ({ isActive, ...(edit && { edit }) })
  const [keys, combos, connections, aliases, providers, customModels, settings] = await Promise.all([
    store.keys.entries(),
    store.combos.all(),
    store.connections.all(),
    store.aliases.all(),
    store.providers.all(),
    store.customModels.entries(),
    store.settings.read(),
  ])
  const digests = await getDigests(store, keys)
  for (const [index, { record }] of keys.entries())
    add(`keys/${record.id}`, [record.name, digests[index]], getFlag(record))
  for (const { id, name, models } of combos) add(`combos/${id}`, [name, models])
  for (const connection of connections)
    add(`connections/${connection.id}`, [connection.name, connection.sealedApiKey !== undefined], getFlag(connection))
  for (const { alias, model } of aliases) add(`aliases/${alias}`, model)
  for (const { provider, stickyLimit } of providers) add(`providers/${provider}`, stickyLimit)
  for (const { id, record } of customModels) add(`customModels/${id}`, record.type ?? null)
  add('settings/settings', settings.requireApiKey, settings.edit === undefined ? {} : { edit: settings.edit })
  return view
}

/** Returns the digests of keys, which both sides know. */
function getDigests({ keyring: vault }: Side['store'], keys: Awaited<ReturnType<Side['store']['keys']['entries']>>) {
  return Promise.all(
    keys.map(async ({ record }) => {
      if (record.sha256 !== undefined) return record.sha256
      const value = await decryptKey(await vault(), record)
      return value === undefined ? 'not to be opened' : sha256Hex(value)
    }),
  )
}
