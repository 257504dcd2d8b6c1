import { createInputError, parseInput, parsePut } from '../../../admin/input.ts'
import { keyInputs, toCreatedKey } from '../../../admin/keys.ts'
import { gatewayError } from '../../../errors.ts'
import type { Management } from '../../../management/operations.ts'
import { mintClientKey } from '../../../records/key-format.ts'
import { decryptKey } from '../../../records/keyring.ts'
import type { KeyRecord } from '../../../records/record-collections.ts'
import { digestKey } from '../cryptography.ts'
import type { Directory } from './directory.ts'
import type { Tenant } from './tenants.ts'

/**
 * Creates the operations for a tenant's gateway. Adds keys to the directory before they are created and releases them after they are deleted.
 * `runExclusive` runs work while nothing else in this process changes the tenant.
 */
export function createTenantApi(
  { id: tenant, gateway, store }: Tenant,
  { directory, runExclusive }: { directory: Directory; runExclusive: <T>(work: () => Promise<T>) => Promise<T> },
): Management<unknown> {
  const api = gateway.api as Management<unknown> // each operation validates its input

  async function getDigest(record: KeyRecord): Promise<string | undefined> {
    if (record.sha256 !== undefined) return record.sha256
    const value = await decryptKey(await store.keyring(), record)
    return value === undefined ? undefined : digestKey(value)
  }

  /** Runs work that creates a key with this value, after claiming the value. Throws if another tenant has the key. */
  async function withClaim<T>(value: string, work: () => Promise<T>): Promise<T> {
    const digest = await digestKey(value)
    if (!(await directory.acquire(tenant, digest))) throw createKeyTakenError()
    try {
      return await work()
    } catch (error) {
      const exists = await store.keys.get(await (await store.keyring()).digestBySha256(digest))
      if (!exists) await directory.release(tenant, digest)
      throw error
    }
  }

  /** Lists each operation explicitly, so anyone who adds one must decide whether it creates or deletes a key. */
  const keys: Management<unknown>['keys'] = {
    list: api.keys.list,
    get: api.keys.get,
    update: api.keys.update, // updates don't change a key's value

    create: (input) =>
      runExclusive(async () => {
        const fields = parseInput(keyInputs.create, input)
        const value = mintClientKey()
        const { key } = await withClaim(value, () => api.keys.put({ ...fields, id: crypto.randomUUID(), key: value }))
        return toCreatedKey({ ...key, key: value })
      }),

    put: (input) =>
      runExclusive(async () => {
        const fields = parsePut(keyInputs.put, input)
        const entries = await store.keys.entries({ fresh: true })
        const isMatch = ({ id, name }: KeyRecord) => (fields.id === undefined ? name === fields.name : id === fields.id)
        const existing = entries.find(({ record }) => isMatch(record))?.record
        if (existing && fields.key === undefined) return api.keys.put(fields)
        const value = fields.key ?? mintClientKey()
        const replacedDigest = existing && (await getDigest(existing))
        const result = await withClaim(value, () => api.keys.put({ ...fields, key: value }))
        if (replacedDigest !== undefined && replacedDigest !== (await digestKey(value)))
          await directory.release(tenant, replacedDigest)
        return result
      }),

    limits: api.keys.limits,

    /** Rejects grace periods, because the directory stores only one value per key. */
    rotate: (id, input = {}) =>
      runExclusive(async () => {
        const { graceMs = 0 } = parseInput(keyInputs.rotate, input)
        if (graceMs > 0) throw createInputError('"graceMs" must be 0 on a cloud proxy; rotate the key on its gateway')
        const existingKey = (await store.keys.entries({ fresh: true })).find(({ record }) => record.id === id)?.record
        if (!existingKey) return api.keys.rotate(id)
        const replacedDigest = await getDigest(existingKey)
        const value = mintClientKey()
        const { key } = await withClaim(value, () => api.keys.put({ id, name: existingKey.name, key: value }))
        if (replacedDigest !== undefined) await directory.release(tenant, replacedDigest)
        return toCreatedKey({ ...key, key: value })
      }),

    delete: (id) =>
      runExclusive(async () => {
        const entries = await store.keys.entries()
        const existingKey = entries.find(({ record }) => record.id === id)?.record
        const digest = existingKey && (await getDigest(existingKey))
        const result = await api.keys.delete(id)
        if (digest !== undefined) await directory.release(tenant, digest)
        return result
      }),
  }

  return {
    keys,
    groups: api.groups,
    accounts: api.accounts,
    tokens: {
      mint: async () => reject('A cloud proxy has no accounts, so it mints no tokens. Mint them on its gateway.'),
    },
    settings: api.settings,
    guards: api.guards,
    combos: api.combos,
    connections: api.connections,
    models: api.models,
    customModels: api.customModels,
    aliases: api.aliases,
    providers: api.providers,
    health: api.health,
    damagedRecords: api.damagedRecords,
    catalog: api.catalog,
    cloud: api.cloud,
    usage: api.usage,
    explain: api.explain,
    overview: api.overview,
    info: api.info,
    openapi: api.openapi,
  }
}

function reject(message: string): never {
  throw gatewayError('FORBIDDEN', { message })
}

const createKeyTakenError = () =>
  gatewayError('CLOUD_CONFLICT', {
    message: 'Another gateway of this cloud proxy already has this API key. Create a new one.',
  })
