import { gatewayError } from '../errors.ts'
import type { ConnectionRecord } from '../records/record-collections.ts'
import { retryOnConflict } from '../records/storage-access.ts'
import { type HealthEntry, listHealthEntries } from '../request/routing/health-entry.ts'
import type { Health } from '../request/routing/target-health.ts'
import { connectionFields } from '../types/records/connection-fields.ts'
import type { InputOf } from '../types/records/record-fields.ts'
import type { Connection } from '../types.ts'
import { ConnectionCredentials } from './connection-credentials.ts'
import {
  connectionChangeSchema,
  connectionPutSchema,
  newConnectionSchema,
  type ParsedConnection,
  parseConnection,
  type TopLevel,
} from './connection-input.ts'
import { warnAboutMisspelledKind } from './connection-provider.ts'
import type { ConnectionTest, TestedConnection } from './connection-test.ts'
import { type ConnectionDependencies, ConnectionWriter, type WriteResult } from './connection-writer.ts'
import { warnIfNotQueried } from './discover-models.ts'
import { createInputError, type OrUnset, rejectUndefined } from './input.ts'
import { listConnectionPriceWarnings } from './price-warnings.ts'
import { findRecord, pickOutputFields, requirePresent } from './record-operations.ts'
import { describeUnreadable, shortenSecret } from './shortened-secrets.ts'
import { type WithWarnings, withWarnings } from './warnings.ts'

/** Connections. Methods take the typed input or `Input`, which is `never` for in-process calls and `unknown` for HTTP bodies. */
export interface ConnectionOperations<Input = never> {
  /** Shows each credential's last four characters; short credentials aren't shown. */
  list(): Promise<{ connections: ConnectionView[] }>
  get(id: string): Promise<ConnectionView>
  /**
   * `provider` must be in the catalog, be of a compatible kind, or come with a `baseUrl`; otherwise rejects with `INVALID_REQUEST`. `name` defaults
   * to the provider's. Like the other changes, it returns `warnings` about a provider that resembles a compatible kind, and about models that
   * couldn't be queried or that the listing doesn't query.
   */
  create(input: NewConnection | Input): Promise<ConnectionView & WithWarnings>
  /** Changes the given fields; `providerSpecificData` is replaced as a whole. Resets the connection's health. */
  update(id: string, input: ConnectionChange | Input): Promise<ConnectionView & WithWarnings>
  /**
   * Creates the connection with this ID. If it exists, changes the given fields. Writes nothing if nothing would change, so you can call it at every
   * start. An existing connection's `provider` can't change. Rejects with `INVALID_REQUEST` if a field is `undefined`.
   */
  put(input: OrUnset<ConnectionPut> | Input): Promise<ConnectionView & WithWarnings>
  /**
   * Queries the connection's server for its models and stores them as `enabledModels`, like a change with `discover`. If the server can't
   * be queried, nothing changes, and `warnings` explain what to do.
   */
  discover(id: string): Promise<ConnectionView & WithWarnings>
  /**
   * Sends a small request to the connection: at most 16 tokens, within 10 s. It is recorded as usage and counts toward the connection's health. Works
   * even if the connection is paused, draining, or in cooldown.
   */
  test(id: string, input?: ConnectionTest | Input): Promise<TestedConnection>
  delete(id: string): Promise<{ success: true }>
}

/** A connection as the management API returns it, with its recent failures, if any. */
export interface ConnectionView extends Connection {
  /** Why the connection's credential can't be decrypted. Absent if it can. */
  error?: string
  /** Up to twenty health entries, the most severe first. Absent if there are none. `/api/health` lists all of them. */
  health?: HealthEntry[]
}

/**
 * A change to a connection; omitted fields stay the same, `null` removes a field. At the top level, a field of `providerSpecificData` is
 * changed individually.
 */
export interface ConnectionChange extends InputOf<typeof connectionFields, 'update'>, TopLevel {}

/** Input to create a connection; `null` is treated as omitted. */
export interface NewConnection extends InputOf<typeof connectionFields, 'create'>, TopLevel {}

/** Input of `put`, which creates or changes a connection. You choose the `id`: letters, digits, `.`, `_`, and `-`. */
export interface ConnectionPut extends InputOf<typeof connectionFields, 'put'>, TopLevel {}

export function createConnectionOperations({
  health,
  ...deps
}: ConnectionDependencies & { health: Health }): Omit<ConnectionOperations<unknown>, 'test'> {
  const { store, catalog } = deps
  const { connections } = store
  const credentials = new ConnectionCredentials(store)
  const writer = new ConnectionWriter(deps, credentials)
  const find = (id: string) => findRecord(connections, 'Connection', (record) => record.id === id)

  async function showCredential(record: ConnectionRecord): Promise<Pick<ConnectionView, 'apiKey' | 'error'>> {
    const apiKey = await credentials.read(record)
    if (apiKey !== undefined) return { apiKey: shortenSecret(apiKey) }
    return record.sealedApiKey === undefined ? {} : { error: describeUnreadable('apiKey') }
  }

  async function show(record: ConnectionRecord): Promise<ConnectionView> {
    const { apiKey, error } = await showCredential(record)
    const { draining, ...fields } = record
    const { id, ...rest } = pickOutputFields(connectionFields, {
      ...fields,
      isActive: record.isActive !== false,
      ...(draining && { draining }),
      ...(apiKey !== undefined && { apiKey }),
    })
    const healthEntries = pickMostSevere(
      listHealthEntries([record], health.facts).filter(({ connectionId }) => connectionId === id),
    )
    return {
      id,
      ...rest,
      ...(error !== undefined && { error }),
      ...(healthEntries.length > 0 && { health: healthEntries }),
    }
  }

  async function showWithWarnings({ record, discovery }: WriteResult): Promise<ConnectionView & WithWarnings> {
    const warning = discovery
      ? discovery.warning
      : await warnIfNotQueried(record, { catalog, customModels: store.customModels })
    const customModels = record.prices ? await store.customModels.all().catch(() => []) : [] // a failed warning must not fail a change that is already stored
    return withWarnings(await show(record), [
      ...warnAboutMisspelledKind(record),
      ...(warning === undefined ? [] : [warning]),
      ...listConnectionPriceWarnings(record, { catalog, customModels }),
    ])
  }

  /** With `isIdempotent`, writes nothing and keeps the connection's health if nothing would change. */
  async function change(
    currentRecord: ConnectionRecord,
    input: ParsedConnection,
    { isIdempotent = false } = {},
  ): Promise<ConnectionView & WithWarnings> {
    const result = await writer.change(currentRecord, input, { isIdempotent })
    if (!result.isUnchanged) health.reset(currentRecord.id) // the change may have fixed the cause
    return showWithWarnings(result)
  }

  return {
    list: async () => ({ connections: await Promise.all((await connections.all()).map(show)) }),

    get: async (id) => show((await find(id)).record),

    async create(input) {
      const result = await writer.insert(crypto.randomUUID(), parseConnection(newConnectionSchema, input))
      if (!result) throw gatewayError('INTERNAL') // two random IDs collided
      return showWithWarnings(result)
    },

    async update(id, input) {
      const { fields, topLevel } = parseConnection(connectionChangeSchema, input)
      const { id: sentId = id, ...members } = fields
      if (sentId !== id) throw createInputError('"id" cannot be changed; omit it')
      return change((await find(id)).record, { fields: members, topLevel })
    },

    async put(input) {
      rejectUndefined(input)
      const { fields, topLevel } = parseConnection(connectionPutSchema, input)
      const { id, ...members } = fields
      return retryOnConflict(async () => {
        const entries = await connections.entries({ fresh: true })
        const currentRecord = entries.find(({ record }) => record.id === id)?.record
        if (currentRecord) return change(currentRecord, { fields: members, topLevel }, { isIdempotent: true })
        const result = await writer.insert(id, { fields: members, topLevel }, { replacesDamaged: true })
        await connections.entries({ fresh: true }) // other processes know this ID and may have changed the record
        return result ? showWithWarnings(result) : false
      })
    },

    async discover(id) {
      const { record } = await find(id)
      return change(record, { fields: { discover: true }, topLevel: {} }, { isIdempotent: true })
    },

    async delete(id) {
      await find(id)
      requirePresent(await connections.remove(id), 'Connection')
      health.reset(id)
      return { success: true }
    },
  }
}

/** Returns the most severe entries. Clients choose model names, so any number of them can fail. */
const pickMostSevere = (entries: HealthEntry[]): HealthEntry[] =>
  entries.sort((a, b) => getSeverity(b) - getSeverity(a)).slice(0, MAX_HEALTH_ENTRIES)

const getSeverity = ({ level, state }: HealthEntry) => (level === 'connection' ? 2 : state === 'counting' ? 0 : 1)

const MAX_HEALTH_ENTRIES = 20
