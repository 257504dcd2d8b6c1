import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import { type CatalogAge, getCatalogAge } from '../pricing/catalog-age.ts'
import { createKeyAccess } from '../records/key-access.ts'
import { GROUPS_PREFIX, KEYS_PREFIX } from '../records/record-collections.ts'
import type { DamagedRecord } from '../records/stored-records.ts'
import type { WritableStore } from '../records/writable-store.ts'
import {
  type HealthEntry,
  listHealthEntries,
  listTargetStates,
  type TargetState,
} from '../request/routing/health-entry.ts'
import type { Health } from '../request/routing/target-health.ts'
import type { CachingPause, ColdSession } from '../types/caching-types.ts'
import type { Catalog } from '../types.ts'
import { anyObject, closedObject, parseInput } from './input.ts'
import { findRecord, requirePresent } from './record-operations.ts'

/** The health of providers, connections, and models. */
export interface HealthOperations {
  /**
   * `health` contains everything that failed recently; healthy targets have no entry. `targets` contains each target's state, and `damaged` the
   * damaged records in the storage. `catalog` is the date of the prices. `promptCaching` lists callers that temporarily get no cache breakpoints, and
   * `coldSessions` lists sessions that read little from the provider's cache.
   */
  list(): Promise<HealthView>
  /** Resets all health, or the health of one connection with its models and its provider. Rejects with `NOT_FOUND` for an unknown ID. */
  reset(connectionId?: string): Promise<{ success: true }>
}

/** A gateway's health, as the management API returns it. */
export interface HealthView {
  health: HealthEntry[]
  targets: TargetState[]
  damaged: DamagedRecord[]
  catalog: CatalogAge
  promptCaching: CachingPause[]
  coldSessions: ColdSession[]
}

interface HealthDependencies {
  store: WritableStore
  health: Health
  catalog: Catalog
  promptCaching: { listPauses(): CachingPause[]; listColdSessions(): ColdSession[] }
}

export function createHealthOperations({
  store,
  health,
  catalog,
  promptCaching,
}: HealthDependencies): HealthOperations {
  return {
    async list() {
      const damagedRecords = await store.repair.inspect()
      const connections = await store.connections.all()
      return {
        health: listHealthEntries(connections, health.facts),
        targets: listTargetStates(connections, health.facts),
        damaged: damagedRecords,
        catalog: getCatalogAge(catalog),
        promptCaching: promptCaching.listPauses(),
        coldSessions: promptCaching.listColdSessions(),
      }
    },
    async reset(connectionId) {
      if (connectionId !== undefined) await findRecord(store.connections, 'Connection', ({ id }) => id === connectionId)
      health.reset(connectionId)
      return { success: true }
    },
  }
}

/** Damaged records in the storage. `key` is the storage key, as listed by `GET /api/health`. */
export interface DamagedRecordOperations<Input = never> {
  /** Rejects with `NOT_FOUND` if the record is missing or not damaged. */
  get(key: string): Promise<DamagedRecordView>
  /** Replaces a damaged record with a complete one. Rejects with an `INVALID_REQUEST` that explains what is wrong with the new record. */
  put(key: string, input: { record: object } | Input): Promise<{ success: true }>
  delete(key: string): Promise<{ success: true }>
}

/** A damaged record, as the management API returns it. */
export interface DamagedRecordView extends DamagedRecord {
  /** The stored text. */
  stored: string
  /** The record's fields, if readable. Repair them and send them back with `PUT`. */
  record?: JsonObject
}

export const damagedRecordInputs = { put: closedObject({ record: anyObject('must be an object') }) }

export function createDamagedRecordOperations({ store }: { store: WritableStore }): DamagedRecordOperations<unknown> {
  const { repair } = store
  const { cache, groups } = store.openKeyAccess(createKeyAccess)

  const findDamagedRecord = async (key: string) =>
    requirePresent(
      (await repair.inspect()).find((damaged) => damaged.key === key),
      'Damaged record',
    )

  /** Makes the next request reread the record, if it is a key or a group. */
  function forget(key: string) {
    if (key.startsWith(KEYS_PREFIX)) cache.forget(key.slice(KEYS_PREFIX.length))
    else if (key.startsWith(GROUPS_PREFIX)) groups.forget(decodeURIComponent(key.slice(GROUPS_PREFIX.length)))
  }

  return {
    async get(key) {
      const damagedRecord = await findDamagedRecord(key)
      const storedText = requirePresent(await repair.read(key), 'Damaged record')
      const envelope = tryParseJson(storedText)
      const record = isObject(envelope) ? envelope.record : undefined
      return { ...damagedRecord, stored: storedText, ...(isObject(record) && { record }) }
    },

    async put(key, input) {
      const { record } = parseInput(damagedRecordInputs.put, input)
      await findDamagedRecord(key)
      await repair.replace(key, record).finally(() => forget(key))
      return { success: true }
    },

    async delete(key) {
      await findDamagedRecord(key)
      await repair.remove(key).finally(() => forget(key))
      return { success: true }
    },
  }
}
