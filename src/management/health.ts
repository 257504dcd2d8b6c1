import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { Health } from '../routing/health.ts'
import { type HealthEntry, healthEntries, type TargetState, targetStates } from '../routing/health-entry.ts'
import { GROUPS, KEYS } from '../store/collections.ts'
import type { DamagedRecord } from '../store/stored-records.ts'
import type { WritableStore } from '../store/writable-store.ts'
import { anyObject, closed, parseInput } from './input.ts'
import { findRecord, present } from './records.ts'

/** The health of providers, connections and models. */
export interface HealthOperations {
  /**
   * `health`: all that have failed lately, where what is healthy has no entry; `targets`: what is known of each target; `damaged`: the records
   * of the storage that are damaged.
   */
  list(): Promise<{ health: HealthEntry[]; targets: TargetState[]; damaged: DamagedRecord[] }>
  /** Forgets all failures, or those of one connection with its models and its provider. Rejects with `NOT_FOUND` for an unknown id. */
  reset(connectionId?: string): Promise<{ success: true }>
}

export function createHealthOperations({ store, health }: { store: WritableStore; health: Health }): HealthOperations {
  return {
    async list() {
      const damaged = await store.repair.inspect()
      const connections = await store.connections.all()
      return {
        health: healthEntries(connections, health.facts),
        targets: targetStates(connections, health.facts),
        damaged,
      }
    },
    async reset(connectionId) {
      if (connectionId !== undefined) await findRecord(store.connections, 'Connection', ({ id }) => id === connectionId)
      health.reset(connectionId)
      return { success: true }
    },
  }
}

/** The records of the storage that cannot be read as they stand. `key` is the storage key, which `GET /api/health` names. */
export interface DamagedRecordOperations<Input = never> {
  /** Rejects with `NOT_FOUND` when the record is missing or good. */
  get(key: string): Promise<ShownDamage>
  /** Replaces it by a whole record; rejects with `INVALID_REQUEST` that names what is wrong with the new one. */
  put(key: string, input: { record: object } | Input): Promise<{ success: true }>
  delete(key: string): Promise<{ success: true }>
}

/** A damaged record as the management API shows it. */
export interface ShownDamage extends DamagedRecord {
  /** The text as it is stored. */
  stored: string
  /** Its members, where it has any: `PUT` takes them mended. */
  record?: JsonObject
}

export const damagedRecordInputs = { put: closed({ record: anyObject('must be an object') }) }

export function createDamagedRecordOperations({ store }: { store: WritableStore }): DamagedRecordOperations<unknown> {
  const { repair, keyring, knownGroups } = store

  const find = async (key: string) =>
    present(
      (await repair.inspect()).find((damaged) => damaged.key === key),
      'Damaged record',
    )

  /** Has the next request read the record, if it is that of a client key or of a group of keys. */
  function forget(key: string) {
    if (key.startsWith(KEYS)) keyring.forget(key.slice(KEYS.length))
    else if (key.startsWith(GROUPS)) knownGroups.forget(decodeURIComponent(key.slice(GROUPS.length)))
  }

  return {
    async get(key) {
      const damaged = await find(key)
      const stored = present(await repair.read(key), 'Damaged record')
      const envelope = tryParseJson(stored)
      const record = isObject(envelope) ? envelope.record : undefined
      return { ...damaged, stored, ...(isObject(record) && { record }) }
    },

    async put(key, input) {
      const { record } = parseInput(damagedRecordInputs.put, input)
      await find(key)
      await repair.replace(key, record).finally(() => forget(key))
      return { success: true }
    },

    async delete(key) {
      await find(key)
      await repair.remove(key).finally(() => forget(key))
      return { success: true }
    },
  }
}
