import type { InFlight } from '../lib/in-flight.ts'
import { isObject } from '../lib/json.ts'
import { createMutex } from '../lib/promises.ts'
import { isPlainObject } from '../lib/shape-problem.ts'
import { CODE_VERSION, type CodeRecords, type CodeSecret, codeSecretId } from '../records/code-records.ts'
import { isDefinedInCode } from '../records/defined-in-code.ts'
import { createKeyAccess } from '../records/key-access.ts'
import { CONNECTIONS_PREFIX, type ConnectionRecord, GROUPS_PREFIX } from '../records/record-collections.ts'
import type { Records } from '../records/records.ts'
import type { Store } from '../records/store.ts'
import type { Envelope } from '../records/stored-records.ts'
import { type StoredSettings, toSettings } from '../records/stored-settings.ts'
import type { PipelineContext } from '../request/context.ts'
import type { RequestEvents } from '../request/request-events.ts'
import type { Clock } from '../types.ts'
import type { CodeConfig } from './code-config.ts'

interface ReloadDependencies {
  store: Store
  clock: Pick<Clock, 'now'>
  inFlight: Pick<InFlight, 'values'>
  events: RequestEvents
  /** Reads a configuration. Throws a TypeError if it is invalid. */
  read(config: CodeConfig, now: number): CodeRecords
  /** Rejects with a TypeError if a guard's settings are invalid. */
  checkGuards(records: CodeRecords): Promise<void>
  findCredentials: PipelineContext['loadSourcedCredentials']
  onError(error: unknown): void
}

/**
 * Creates the function that replaces the configuration defined in code. It rejects with a TypeError, and changes nothing, if the configuration is invalid.
 * Requests that have found their targets keep them and their credentials; all others use the new configuration.
 */
export function createReload(dependencies: ReloadDependencies): (config: CodeConfig) => Promise<void> {
  const { store, clock, inFlight, events, read, checkGuards, findCredentials, onError } = dependencies
  const { code } = store
  const runInOrder = createMutex()
  let lastAt = findLastUpdate(code.records)

  /** Forgets these connections' credentials once no in-flight request can use them anymore. */
  function forgetOnceUnused(connections: readonly ConnectionRecord[]): void {
    const pendingRequests = new Set(inFlight.values())
    function forget() {
      for (const connection of connections) {
        findCredentials(connection)?.then((credentials) => credentials.forget(connection), onError)
        code.records.secrets.delete(codeSecretId(connection))
      }
    }
    if (pendingRequests.size === 0) {
      forget()
      return
    }
    const stop = events.add({
      ended({ client }) {
        pendingRequests.delete(client)
        if (pendingRequests.size > 0) return
        forget()
        queueMicrotask(stop) // deferred, because the listeners are being called right now
      },
    })
  }

  async function replace(nextRecords: CodeRecords): Promise<void> {
    const settings = await readStoredSettings(store)
    const previous = code.records
    const next = keepUnchanged(nextRecords, previous)
    const removed = listConnections(previous).filter((connection) => {
      const id = codeSecretId(connection)
      return previous.secrets.has(id) && !next.secrets.has(id)
    })
    for (const [id, secret] of previous.secrets) if (!next.secrets.has(id)) next.secrets.set(id, secret)
    code.records = next
    for (const records of [
      store.connections,
      store.combos,
      store.customModels,
      store.aliases,
      store.groups,
      store.guards,
    ])
      replaceEntries(records as Records<object>, next) // the records' type doesn't matter here
    for (const key of new Set([...previous.values.keys(), ...next.values.keys()]))
      if (key.startsWith(GROUPS_PREFIX) && previous.values.get(key) !== next.values.get(key))
        store.openKeyAccess(createKeyAccess).groups.forget(decodeURIComponent(key.slice(GROUPS_PREFIX.length)))
    if (settings) store.settings.source.replace(settings)
    else store.settings.source.expire()
    if (removed.length > 0) forgetOnceUnused(removed)
  }

  return async (config) => {
    if (!isPlainObject(config)) throw new TypeError('gateway.reload takes an object, such as { connections, combos }.')
    lastAt = Math.max(clock.now(), lastAt + 1) // unique, because credentials and failures are stored by connection and time
    const next = read(config, lastAt)
    await runInOrder(async () => {
      await checkGuards(next)
      await replace(next)
    })
  }
}

/** Reads the settings that aren't defined in code. Resolves to `undefined` if there are none in memory or in the storage. */
async function readStoredSettings({ settings }: Store): Promise<StoredSettings | undefined> {
  const loaded = await settings.source.load().catch(() => undefined)
  if (loaded?.members && loaded.isSigned) return toSettings(loaded.members)
  return settings.read().catch(() => undefined) // a request that needs the settings reports the error
}

/** Replaces the in-memory entries that are defined in code, then rereads the list. Requests may use the replaced entries until then. */
function replaceEntries<T extends object>({ source: { view, stored } }: Records<T>, { values }: CodeRecords): void {
  view.applyChange((entries) => {
    const prefix = stored.getKey('')
    const codeEntries = [...values].flatMap(([key, text]) => {
      if (!key.startsWith(prefix)) return []
      return [stored.toEntry(decodeURIComponent(key.slice(prefix.length)), parse<T>(text), CODE_VERSION)]
    })
    const others = entries.filter(({ id, record }) => !isDefinedInCode(record) && !values.has(stored.getKey(id)))
    entries.length = 0
    for (const entry of [...codeEntries, ...others]) entries.push(entry) // records defined in code have the lowest `order`
    return false
  })
}

/** Returns the new records. Unchanged records keep their timestamps, so their cached credentials and health remain valid. */
function keepUnchanged(records: CodeRecords, before: CodeRecords): CodeRecords {
  const { values, secrets } = records
  const nextValues = new Map<string, string>()
  const nextSecrets: CodeRecords['secrets'] = new Map()
  for (const [key, text] of values) {
    const { order, record } = parse<TimedRecord>(text)
    const { record: previous } = parse<TimedRecord>(before.values.get(key) ?? '{"record":{}}')
    const isConnection = key.startsWith(CONNECTIONS_PREFIX)
    const secret = isConnection ? secrets.get(codeSecretId(record)) : undefined
    if (previous.createdAt !== undefined) record.createdAt = previous.createdAt
    if (previous.updatedAt !== undefined) {
      const isSame = JSON.stringify({ ...record, updatedAt: previous.updatedAt }) === JSON.stringify(previous)
      if (isSame && (!isConnection || isSameSource(secret, before.secrets.get(codeSecretId(previous)))))
        record.updatedAt = previous.updatedAt
    }
    if (secret !== undefined) nextSecrets.set(codeSecretId(record), secret)
    nextValues.set(key, JSON.stringify({ order, record }))
  }
  return { ...records, values: nextValues, secrets: nextSecrets }
}

/** A record defined in code. Only connections and combos have both times; groups have only `createdAt`. */
interface TimedRecord {
  id: string
  createdAt: string
  updatedAt: string
}

/** Returns whether both are the same credential, or functions that return the same credential. */
const isSameSource = (a: CodeSecret | undefined, b: CodeSecret | undefined): boolean =>
  a === b || (isObject(a) && isObject(b) && a.resolve === b.resolve)

const parse = <T>(text: string): Envelope<T> => JSON.parse(text) // `readCodeConfig` wrote this text

const listConnections = ({ values }: CodeRecords): ConnectionRecord[] =>
  [...values].flatMap(([key, text]) =>
    key.startsWith(CONNECTIONS_PREFIX) ? [parse<ConnectionRecord>(text).record] : [],
  )

/** Returns when the latest connection was defined, in epoch ms, or 0 if there are none. */
const findLastUpdate = (records: CodeRecords): number =>
  Math.max(0, ...listConnections(records).map(({ updatedAt }) => Date.parse(updatedAt)))
