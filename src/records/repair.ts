import { gatewayError, toGatewayError } from '../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { Storage, Stored } from '../types.ts'
import { KEYRING_KEY, SETTINGS_KEY } from './record-collections.ts'
import type { Records } from './records.ts'
import { handleStorageError } from './storage-access.ts'
import type { DamagedRecord, DamageLog } from './stored-records.ts'
import { parseRecord, type RecordKind } from './stored-records.ts'
import type { SettingsStore } from './stored-settings.ts'

/** Lists, replaces, and removes damaged records. Rejects with `STORAGE_FAILED` if the storage is unavailable. */
export interface Repair {
  /** Checks every record that may have changed. The result is sorted by key. */
  inspect(): Promise<DamagedRecord[]>
  /** Returns a record's stored text, or `undefined` if there is none. */
  read(key: string): Promise<string | undefined>
  /** Replaces a record. Throws `INVALID_REQUEST` if the new record has a problem, or if records of this type can't be repaired here. */
  replace(key: string, record: JsonObject): Promise<void>
  remove(key: string): Promise<void>
}

interface Repairable {
  kind: RecordKind<object>
  records: Pick<Records<object>, 'entries'>
  /** Completes a record before it is written. */
  complete?(key: string, record: JsonObject): Promise<JsonObject>
  /** Finds a problem that isn't in a single field. Returns it as a predicate about the record. */
  findProblem?(id: string, record: object): Promise<string | undefined>
}

/** Maximum records per type to check for problems outside their fields. */
const MAX_CHECKED = 1_000

export function createRepair(deps: {
  storage: Storage
  damage: DamageLog
  settings: SettingsStore
  keyring(): Promise<unknown>
  repairables: readonly Repairable[]
}): Repair {
  const { storage, damage, settings, keyring, repairables } = deps

  const readStored = (key: string): Promise<Stored | undefined> =>
    storage.get(key).catch(handleStorageError('read', key))

  /** Changes a record unless another write came first, then rereads all records of its type. */
  async function change(
    key: string,
    write: (repairable: Repairable, stored: Stored) => Promise<unknown>,
  ): Promise<void> {
    const repairable = repairables.find(({ kind }) => key.startsWith(kind.prefix)) ?? throwNotRepairable(key)
    const stored = await readStored(key)
    if (!stored) throw gatewayError('NOT_FOUND', { message: 'Damaged record not found' })
    const isWritten = await write(repairable, stored).catch(handleStorageError('write', key))
    await repairable.records.entries({ fresh: true })
    if (isWritten === false)
      throw gatewayError('INVALID_REQUEST', {
        status: 409,
        message: `The record ${key} was just changed. Fetch it again.`,
      })
  }

  return {
    async inspect() {
      const keyringProblem = await keyring().then(() => undefined, describeError)
      damage.report(KEYRING_KEY, keyringProblem)
      const settingsProblem = await settings.reread().then(() => undefined, describeError)
      if (settingsProblem !== undefined)
        damage.report(SETTINGS_KEY, keyringProblem === undefined ? settingsProblem : undefined)
      const problemRecords: DamagedRecord[] = []
      for (const { kind, records, findProblem } of repairables) {
        const entries = await records.entries()
        if (keyringProblem !== undefined || !findProblem) continue
        const problems = entries.slice(0, MAX_CHECKED).map(async ({ id, record }) => {
          const problem = await findProblem(id, record)
          return problem === undefined ? [] : [{ key: kind.prefix + encodeURIComponent(id), problem }]
        })
        problemRecords.push(...(await Promise.all(problems)).flat())
      }
      const damagedRecords = damage.list()
      const newProblems = problemRecords.filter(
        ({ key }) => !damagedRecords.some((damagedRecord) => damagedRecord.key === key),
      )
      return [...damagedRecords, ...newProblems].sort((a, b) => (a.key < b.key ? -1 : 1))
    },

    read: async (key) => (await readStored(key))?.value,

    replace: (key, record) =>
      change(key, async ({ kind, complete }, stored) => {
        const envelope = tryParseJson(stored.value)
        const order = isObject(envelope) && typeof envelope.order === 'number' ? envelope.order : 0
        const text = JSON.stringify({ order, record: complete ? await complete(key, record) : record })
        const { problem } = parseRecord(key, text, kind)
        if (problem !== undefined) throw gatewayError('INVALID_REQUEST', { message: `The record you sent ${problem}.` })
        return storage.set(key, text, { ifVersion: stored.version })
      }),

    remove: (key) => change(key, (_, { version }) => storage.delete(key, { ifVersion: version })),
  }
}

const describeError = (error: unknown) => `cannot be used: ${toGatewayError(error).message}`

function throwNotRepairable(key: string): never {
  const advice =
    key === SETTINGS_KEY
      ? 'Set them again: PATCH /api/settings with "requireApiKey".'
      : 'Restore it from a backup: without it, no key or credential can be decrypted.'
  throw gatewayError('INVALID_REQUEST', {
    status: 409,
    message: `The record ${key} cannot be replaced or removed here. ${advice}`,
  })
}
