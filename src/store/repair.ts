import { gatewayError, toGatewayError } from '../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { Storage, Stored } from '../types.ts'
import { SETTINGS, VAULT } from './collections.ts'
import type { Records } from './records.ts'
import type { SettingsStore } from './settings.ts'
import { failedTo } from './storage-access.ts'
import type { DamagedRecord, DamageLog } from './stored-records.ts'
import { openRecord, type RecordKind } from './stored-records.ts'

/** Shows the damaged records of a storage, replaces them and removes them. Rejects with `STORAGE_FAILED` when the storage is away. */
export interface Repair {
  /** Looks at every record that may have changed; in the order of their keys. */
  inspect(): Promise<DamagedRecord[]>
  /** The text of a record; `undefined` when there is none. */
  read(key: string): Promise<string | undefined>
  /**
   * Replaces a record in its place. Throws `INVALID_REQUEST` when the new record has a problem, or when records of its kind are repaired in another
   * way.
   */
  replace(key: string, record: JsonObject): Promise<void>
  remove(key: string): Promise<void>
}

/** One kind of records, and what must be known of a change that is made beside them. */
interface Repairable {
  kind: RecordKind<object>
  records: Pick<Records<object>, 'entries'>
  /** Completes a record that is to be written under a key. */
  complete?(key: string, record: JsonObject): Promise<JsonObject>
  /** A problem of a record other than in its fields, as the predicate of a sentence whose subject is the record. */
  problemOf?(id: string, record: object): Promise<string | undefined>
}

/** How many records of a kind are checked for problems other than in their fields. */
const MOST_OPENED = 1_000

export function createRepair(deps: {
  storage: Storage
  damage: DamageLog
  settings: SettingsStore
  vault(): Promise<unknown>
  repairables: readonly Repairable[]
}): Repair {
  const { storage, damage, settings, vault, repairables } = deps

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
      const problemOfVault = await vault().then(() => undefined, problemOfError)
      damage.saw(VAULT, problemOfVault)
      const problem = await settings.reread().then(() => undefined, problemOfError)
      if (problem !== undefined) damage.saw(SETTINGS, problemOfVault === undefined ? problem : undefined)
      const unopened: DamagedRecord[] = []
      for (const { kind, records, problemOf } of repairables) {
        const entries = await records.entries()
        if (problemOfVault !== undefined || !problemOf) continue
        const problems = entries.slice(0, MOST_OPENED).map(async ({ id, record }) => {
          const problem = await problemOf(id, record)
          return problem === undefined ? [] : [{ key: kind.prefix + encodeURIComponent(id), problem }]
        })
        unopened.push(...(await Promise.all(problems)).flat())
      }
      const known = damage.list()
      const more = unopened.filter(({ key }) => !known.some((one) => one.key === key))
      return [...known, ...more].sort((a, b) => (a.key < b.key ? -1 : 1))
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

const problemOfError = (error: unknown) => `cannot be used: ${toGatewayError(error).message}`

function refuse(key: string): never {
  const way =
    key === SETTINGS
      ? 'Set them again: PATCH /api/settings with "requireApiKey".'
      : 'Restore it from a backup: without it no key and no credential can be opened.'
  throw gatewayError('INVALID_REQUEST', {
    status: 409,
    message: `The record ${key} is neither replaced nor removed here. ${way}`,
  })
}
