import { gatewayError, toGatewayError } from '../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { Storage, Stored } from '../types.ts'
import { failedTo } from './away.ts'
import { SETTINGS } from './collections.ts'
import type { DamagedRecord, DamageLog } from './damage.ts'
import type { Records } from './records.ts'
import type { SettingsStore } from './settings.ts'
import { openRecord, type RecordKind } from './stored-records.ts'

/** Shows the damaged records of a storage, replaces them and removes them. Rejects with `STORAGE_FAILED` when the storage is away. */
export interface Repair {
  /** Looks at every record that may have changed; in the order of their keys. */
  inspect(): Promise<DamagedRecord[]>
  /** The text of a record; `undefined` when there is none. */
  read(key: string): Promise<string | undefined>
  /** Replaces a record in its place. Throws `INVALID_REQUEST` when the new one has a problem, or is of those that are mended elsewhere. */
  replace(key: string, record: JsonObject): Promise<void>
  remove(key: string): Promise<void>
}

/** One kind of records, and what must be known of a change that is made beside them. */
export interface Repairable {
  kind: RecordKind<object>
  records: Pick<Records<object>, 'entries'>
  /** Completes a record that is to be written under a key. */
  complete?(key: string, record: JsonObject): Promise<JsonObject>
}

export function createRepair(deps: {
  storage: Storage
  damage: DamageLog
  settings: SettingsStore
  repairables: readonly Repairable[]
}): Repair {
  const { storage, damage, settings, repairables } = deps

  const stored = (key: string): Promise<Stored | undefined> => storage.get(key).catch(failedTo('read', key))

  /** Changes a record, unless another writer was faster, and has it read again. */
  async function change(key: string, write: (repairable: Repairable, was: Stored) => Promise<unknown>): Promise<void> {
    const repairable = repairables.find(({ kind }) => key.startsWith(kind.prefix)) ?? refuse(key)
    const was = await stored(key)
    if (!was) throw gatewayError('NOT_FOUND', { message: 'Damaged record not found' })
    const isDone = await write(repairable, was).catch(failedTo('write', key))
    await repairable.records.entries({ fresh: true })
    if (isDone === false)
      throw gatewayError('INVALID_REQUEST', {
        status: 409,
        message: `The record ${key} has just been changed. Look at it again.`,
      })
  }

  return {
    async inspect() {
      const problem = await settings.reread().then(() => undefined, problemSaid)
      damage.saw(SETTINGS, problem)
      for (const { records } of repairables) await records.entries()
      return damage.list()
    },

    read: async (key) => (await stored(key))?.value,

    replace: (key, record) =>
      change(key, async ({ kind, complete }, was) => {
        const envelope = tryParseJson(was.value)
        const order = isObject(envelope) && typeof envelope.order === 'number' ? envelope.order : 0
        const text = JSON.stringify({ order, record: complete ? await complete(key, record) : record })
        const { problem } = openRecord(key, text, kind)
        if (problem !== undefined) throw gatewayError('INVALID_REQUEST', { message: `The record sent ${problem}.` })
        return storage.set(key, text, { ifVersion: was.version })
      }),

    remove: (key) => change(key, (_, { version }) => storage.delete(key, { ifVersion: version })),
  }
}

const problemSaid = (error: unknown) => `cannot be used: ${toGatewayError(error).message}`

function refuse(key: string): never {
  const way =
    key === SETTINGS
      ? 'Set them again: PATCH /api/settings with "requireApiKey".'
      : 'Only a backup brings it back; no key and no credential can be opened without it.'
  throw gatewayError('INVALID_REQUEST', {
    status: 409,
    message: `The record ${key} is neither replaced nor removed here. ${way}`,
  })
}
