import { gatewayError } from '../errors.ts'
import { invalidInput, parseInput, parsePut } from '../management/input.ts'
import { createdKey, type KeyOperations, keyInputs } from '../management/keys.ts'
import type { Management } from '../management/operations.ts'
import { mintClientKey } from '../store/client-key.ts'
import type { KeyRecord } from '../store/collections.ts'
import { openKey } from '../store/vault.ts'
import { digestOfKey } from '../sync/cryptography.ts'
import type { Directory } from './directory.ts'
import type { Tenant } from './tenants.ts'

/**
 * The operations of a tenant's gateway. Keys are entered in the directory before they are made, and released after they are deleted; `alone`
 * runs work while nothing else changes the tenant in this process.
 */
export function createTenantApi(
  { id: tenant, gateway, store }: Tenant,
  { directory, alone }: { directory: Directory; alone: <T>(work: () => Promise<T>) => Promise<T> },
): Management<unknown> {
  const api = gateway.api as Management<unknown> // each operation checks its input itself

  async function digestOf(record: KeyRecord): Promise<string | undefined> {
    if (record.sha256 !== undefined) return record.sha256
    const value = await openKey(await store.vault(), record)
    return value === undefined ? undefined : digestOfKey(value)
  }

  /** Runs work that makes a key with this value, unless another tenant has that key. */
  async function claimed<T>(value: string, work: () => Promise<T>): Promise<T> {
    const digest = await digestOfKey(value)
    if (!(await directory.take(tenant, digest))) throw taken()
    try {
      return await work()
    } catch (error) {
      const isThere = await store.keys.get(await (await store.vault()).digestBySha256(digest))
      if (!isThere) await directory.release(tenant, digest)
      throw error
    }
  }

  /** Each by its name: one that is added must say here whether it makes or ends a key. */
  const keys: KeyOperations<unknown> = {
    list: api.keys.list,
    get: api.keys.get,
    update: api.keys.update, // a key keeps its value

    create: (input) =>
      alone(async () => {
        const given = parseInput(keyInputs.create, input)
        const value = mintClientKey()
        const { key } = await claimed(value, () => api.keys.put({ ...given, id: crypto.randomUUID(), key: value }))
        return createdKey({ ...key, key: value })
      }),

    put: (input) =>
      alone(async () => {
        const given = parsePut(keyInputs.put, input)
        const entries = await store.keys.entries({ fresh: true })
        const isMeant = ({ id, name }: KeyRecord) => (given.id === undefined ? name === given.name : id === given.id)
        const before = entries.find(({ record }) => isMeant(record))?.record
        if (before && given.key === undefined) return api.keys.put(given)
        const value = given.key ?? mintClientKey()
        const replaced = before && (await digestOf(before))
        const result = await claimed(value, () => api.keys.put({ ...given, key: value }))
        if (replaced !== undefined && replaced !== (await digestOfKey(value))) await directory.release(tenant, replaced)
        return result
      }),

    limits: api.keys.limits,

    /** At a proxy a value opens nothing once it is replaced: the directory has one for each key. */
    rotate: (id, input = {}) =>
      alone(async () => {
        const { graceMs = 0 } = parseInput(keyInputs.rotate, input)
        if (graceMs > 0) throw invalidInput('"graceMs" must be 0 at a cloud proxy; rotate the key at its gateway')
        const before = (await store.keys.entries({ fresh: true })).find(({ record }) => record.id === id)?.record
        if (!before) return api.keys.rotate(id)
        const replaced = await digestOf(before)
        const value = mintClientKey()
        const { key } = await claimed(value, () => api.keys.put({ id, name: before.name, key: value }))
        if (replaced !== undefined) await directory.release(tenant, replaced)
        return createdKey({ ...key, key: value })
      }),

    delete: (id) =>
      alone(async () => {
        const entries = await store.keys.entries()
        const before = entries.find(({ record }) => record.id === id)?.record
        const digest = before && (await digestOf(before))
        const result = await api.keys.delete(id)
        if (digest !== undefined) await directory.release(tenant, digest)
        return result
      }),
  }

  return {
    keys,
    groups: api.groups,
    settings: api.settings,
    combos: api.combos,
    connections: api.connections,
    models: api.models,
    customModels: api.customModels,
    aliases: api.aliases,
    providers: api.providers,
    health: api.health,
    damagedRecords: api.damagedRecords,
    cloud: api.cloud,
    usage: api.usage,
    explain: api.explain,
    overview: api.overview,
    info: api.info,
    openapi: api.openapi,
  }
}

const taken = () =>
  gatewayError('CLOUD_CONFLICT', { message: 'Another gateway of this cloud proxy has this API key. Make a new one.' })
