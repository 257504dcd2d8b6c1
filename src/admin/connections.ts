import { gatewayError } from '../errors.ts'
import type { UpstreamFetch } from '../lib/exchange.ts'
import { getDefinition, type NamedConnection } from '../protocols/providers/names.ts'
import { type Destination, destinationFields, getApiKeyContext } from '../records/keyring.ts'
import type { ConnectionRecord } from '../records/record-collections.ts'
import { retryLostRace } from '../records/storage-access.ts'
import { decryptApiKey } from '../records/store.ts'
import type { WritableStore } from '../records/writable-store.ts'
import { type HealthEntry, listHealthEntries } from '../request/routing/health-entry.ts'
import type { Health } from '../request/routing/target-health.ts'
import { connectionFields } from '../types/records/connection-fields.ts'
import type { InputOf } from '../types/records/record-fields.ts'
import type { Catalog, Clock, Connection, ProviderSpecificData } from '../types.ts'
import {
  changeData,
  connectionChange,
  connectionPut,
  newConnection,
  parseConnection,
  type TopLevel,
} from './connection-input.ts'
import {
  checkCloud,
  requireOwnPrefix,
  requireProvider,
  resolveProvider,
  warnOfMisspelledKind,
} from './connection-provider.ts'
import type { ConnectionTest, TestedConnection } from './connection-test.ts'
import { addDiscovered, type Discovery, discoverModels, warnIfNotQueried } from './discover-models.ts'
import { invalidInput, type OrUnset, refuseUndefined } from './input.ts'
import { connectionPriceWarnings } from './price-warnings.ts'
import {
  findRecord,
  isSameJson,
  newEdit,
  pickShownFields,
  present,
  timestamp,
  timestampAfter,
  withChange,
} from './record-operations.ts'
import { type Warned, withWarnings } from './warnings.ts'

/** Connections. `Input` is accepted in addition to the typed input: nothing in process, `unknown` for HTTP bodies. */
export interface ConnectionOperations<Input = never> {
  /** Shows the last four characters of each credential; short ones aren't shown. */
  list(): Promise<{ connections: ShownConnection[] }>
  get(id: string): Promise<ShownConnection>
  /**
   * `provider` must be in the catalog, be a compatible kind, or come with a `baseUrl`; otherwise rejects with `INVALID_REQUEST`. `name`
   * defaults to the provider's. Like the other changes, it returns `warnings` about a provider that resembles a compatible kind, and models
   * that could not be queried or that the listing doesn't query.
   */
  create(input: NewConnection | Input): Promise<ShownConnection & Warned>
  /** Changes the given fields; `providerSpecificData` is replaced as a whole. Resets the connection's health. */
  update(id: string, input: ConnectionChange | Input): Promise<ShownConnection & Warned>
  /**
   * Creates the connection with this id, or changes the given fields; omitted fields stay the same. Writes nothing if nothing would change,
   * so you can call it at every start. An existing connection's `provider` can't change. A field that is `undefined` is an
   * `INVALID_REQUEST`.
   */
  put(input: OrUnset<ConnectionPut> | Input): Promise<ShownConnection & Warned>
  /**
   * Queries the connection's server for its models and stores them as `enabledModels`, like a change with `discover`. If the server can't
   * be queried, nothing changes, and `warnings` say what to do.
   */
  discover(id: string): Promise<ShownConnection & Warned>
  /**
   * Sends a small request to the connection, at most 16 tokens within 10 s. It is recorded as usage and counts for the connection's health.
   * Works even if the connection is paused, draining, or in cooldown.
   */
  test(id: string, input?: ConnectionTest | Input): Promise<TestedConnection>
  delete(id: string): Promise<{ success: true }>
}

/** A connection, as the management API returns it, with recent failures. */
export interface ShownConnection extends Connection {
  /** Why its credential can't be decrypted; absent if it can. */
  error?: string
  /** Up to twenty health entries, the most severe first; absent if there are none. `/api/health` has all. */
  health?: HealthEntry[]
}

/**
 * A change to a connection; omitted fields stay the same, `null` removes a field. At the top level, a field of `providerSpecificData` is
 * changed individually.
 */
export interface ConnectionChange extends InputOf<typeof connectionFields, 'update'>, TopLevel {}

/** Input to create a connection; `null` counts as omitted. */
export interface NewConnection extends InputOf<typeof connectionFields, 'create'>, TopLevel {}

/** Input of `put`, which creates or changes a connection. You choose the `id`: letters, digits, `.`, `_`, and `-`. */
export interface ConnectionPut extends InputOf<typeof connectionFields, 'put'>, TopLevel {}

/** The parsed fields of a connection. */
type ConnectionFields = Omit<InputOf<typeof connectionFields, 'update'>, 'id' | 'createdAt' | 'updatedAt'>

interface Dependencies {
  store: WritableStore
  catalog: Catalog
  clock: Clock
  health: Health
  /** Calls servers for their models. */
  fetch: UpstreamFetch
  limits: { lookupTimeoutMs: number }
}

/** A written connection, and the result of querying its server for models, if it was queried. */
interface WrittenConnection {
  record: ConnectionRecord
  discovered: Discovery | undefined
}

export function createConnectionOperations({
  store,
  catalog,
  clock,
  health,
  fetch,
  limits: { lookupTimeoutMs: timeoutMs },
}: Dependencies): Omit<ConnectionOperations<unknown>, 'test'> {
  const { connections } = store
  const find = (id: string) => findRecord(connections, 'Connection', (record) => record.id === id)

  const encrypt = async (to: Destination, apiKey: string) =>
    (await store.keyring()).encrypt(getApiKeyContext(to), apiKey)

  /** Doesn't throw for a credential that can't be decrypted, so that the rest of the connection can be shown. */
  async function readCredential(record: ConnectionRecord): Promise<string | undefined> {
    if (record.sealedApiKey === undefined) return undefined
    await store.keyring() // throws if no credential can be decrypted
    return decryptApiKey(store, record).catch(() => undefined)
  }

  /**
   * Encrypts the credential of a changed connection: the given one, or the stored one if its destination changed; `null` for none. Throws
   * `INVALID_REQUEST` if the stored one would be sent to another host.
   */
  async function reencrypt(
    next: ConnectionRecord,
    { was, apiKey }: { was: ConnectionRecord; apiKey: string | null | undefined },
  ): Promise<string | null | undefined> {
    if (typeof apiKey === 'string') return encrypt(next, apiKey)
    if (apiKey === null || was.sealedApiKey === undefined || getApiKeyContext(next) === getApiKeyContext(was))
      return apiKey
    const moved = (['baseUrl', 'resource'] as const).find((field) => getHost(next, field) !== getHost(was, field))
    if (moved)
      throw invalidInput(
        `"providerSpecificData.${moved}" changes where the connection's key is sent, so send "apiKey" again as well, or null for none`,
      )
    const stored = await readCredential(was)
    return stored === undefined ? undefined : encrypt(next, stored) // one that can't be decrypted stays as it is
  }

  async function showCredential(record: ConnectionRecord): Promise<Pick<ShownConnection, 'apiKey' | 'error'>> {
    if (record.sealedApiKey === undefined) return {}
    const apiKey = await readCredential(record)
    return apiKey === undefined ? { error: UNREADABLE } : { apiKey: shorten(apiKey) }
  }

  async function shown(record: ConnectionRecord): Promise<ShownConnection> {
    const { apiKey, error } = await showCredential(record)
    const { draining, ...plain } = record
    const { id, ...rest } = pickShownFields(connectionFields, {
      ...plain,
      isActive: record.isActive !== false,
      ...(draining && { draining }),
      ...(apiKey !== undefined && { apiKey }),
    })
    const unhealthy = pickMostSevere(
      listHealthEntries([record], health.facts).filter(({ connectionId }) => connectionId === id),
    )
    return {
      id,
      ...rest,
      ...(error !== undefined && { error }),
      ...(unhealthy.length > 0 && { health: unhealthy }),
    }
  }

  async function answer({ record, discovered }: WrittenConnection): Promise<ShownConnection & Warned> {
    const warning = discovered
      ? discovered.warning
      : await warnIfNotQueried(record, { catalog, customModels: store.customModels })
    const customModels = record.prices ? await store.customModels.all().catch(() => []) : [] // the change has been made
    return withWarnings(await shown(record), [
      ...warnOfMisspelledKind(record),
      ...(warning === undefined ? [] : [warning]),
      ...connectionPriceWarnings(record, { catalog, customModels }),
    ])
  }

  const queryServer = (record: ConnectionRecord, apiKey: string | null | undefined) =>
    discoverModels(record, apiKey ?? undefined, { catalog, fetch, clock, timeoutMs })

  /** Includes connections that other processes have just written. */
  async function checkPrefix(connection: NamedConnection & { id: string }): Promise<void> {
    const all = (await connections.entries({ fresh: true })).map(({ record }) => record)
    const others = all.filter(({ id }) => id !== connection.id)
    requireOwnPrefix(catalog, connection, others)
  }

  /** Checks the prefix of a connection and writes it. No other process can take the prefix in between. */
  async function reservePrefix<T>(connection: NamedConnection & { id: string }, write: () => Promise<T>): Promise<T> {
    await checkPrefix(connection)
    const { provider, providerSpecificData: given } = connection
    const names = given?.prefix?.trim() || !getDefinition(catalog, provider) // a provider in the catalog has other names
    if (given?.sharesPrefix || !names) return write()
    return store.runExclusive('prefixes', async (ready) => {
      await checkPrefix(connection)
      ready()
      return write()
    })
  }

  /** Inserts a connection; returns `undefined` if its id is taken. */
  async function insert(
    id: string,
    given: ConnectionFields & { provider: string },
    top: TopLevel,
  ): Promise<WrittenConnection | undefined> {
    const { apiKey, discover } = given
    const provider = resolveProvider(catalog, given.provider)
    const data = changeData(undefined, given.providerSpecificData, top)
    requireProvider(catalog, provider, data ?? undefined)
    checkCloud(catalog, provider, { data: data ?? undefined, apiKey: apiKey ?? undefined })
    const now = timestamp(clock)
    const name = getDefinition(catalog, provider)?.name ?? provider
    const record: ConnectionRecord = {
      ...applyChange({ id, provider, name, createdAt: now, updatedAt: now }, given, top),
      ...createEdit(given),
    }
    if (typeof apiKey === 'string') record.sealedApiKey = await encrypt(record, apiKey)
    if (discover) await checkPrefix(record) // before the server is called
    const discovered = discover ? await queryServer(record, apiKey) : undefined
    const written = discovered ? addDiscovered(record, discovered) : record
    const isNew = await reservePrefix(written, () => connections.insert(id, written))
    return isNew ? { record: written, discovered } : undefined
  }

  /** Changes a connection. `isIdempotent`: if nothing would change, writes nothing and keeps its health. */
  async function change(
    found: ConnectionRecord,
    given: ConnectionFields,
    top: TopLevel,
    { isIdempotent = false } = {},
  ): Promise<WrittenConnection> {
    const { id, provider } = found
    if (given.provider !== undefined && ![given.provider, resolveProvider(catalog, given.provider)].includes(provider))
      throw invalidInput('"provider" cannot be changed; create a new connection instead')
    const data = changeData(found.providerSpecificData, given.providerSpecificData, top)
    if (data !== undefined) requireProvider(catalog, provider, data ?? undefined)
    if (data !== undefined || typeof given.apiKey === 'string') {
      const apiKey = given.apiKey === undefined ? await readCredential(found) : (given.apiKey ?? undefined)
      const next = data === undefined ? found.providerSpecificData : (data ?? undefined)
      checkCloud(catalog, provider, { data: next, apiKey })
    }

    if (isIdempotent && typeof given.apiKey === 'string') await requireConfirmedUrl(found, given, top)
    const discovered = given.discover ? await queryChanged(found, given, top) : undefined
    const written = (record: ConnectionRecord): WrittenConnection => ({ record, discovered })

    const changedFrom = (current: ConnectionRecord): ConnectionRecord => {
      const next = applyChange(current, given, top)
      const stored = top.enabledModels === null ? undefined : current.providerSpecificData?.enabledModels
      return discovered ? addDiscovered(next, discovered, stored) : next
    }
    const isSame = async () => (await isSameCredential(found, given.apiKey)) && isSameJson(changedFrom(found), found)
    if (isIdempotent && (await isSame())) return written(found)

    const update = () =>
      connections.update(id, async (current) => {
        const updatedAt = timestampAfter(current.updatedAt, clock)
        const next = { ...changedFrom(current), ...createEdit(given), updatedAt }
        const sealedApiKey = await reencrypt(next, { was: current, apiKey: given.apiKey })
        return sealedApiKey === undefined ? next : withChange(next, { sealedApiKey })
      })
    const touchesPrefix = data !== undefined && changesPrefix(found.providerSpecificData ?? {}, data ?? {})
    const changed = touchesPrefix
      ? await reservePrefix({ id, provider, ...(data && { providerSpecificData: data }) }, update)
      : await update()
    health.reset(id) // the change may have fixed what failed
    return written(present(changed, 'Connection'))
  }

  /** Queries the changed connection's server for its models before the change is written. Throws if the key must not be sent to that server. */
  async function queryChanged(found: ConnectionRecord, given: ConnectionFields, top: TopLevel): Promise<Discovery> {
    const next = applyChange(found, given, top)
    if (changesPrefix(found.providerSpecificData ?? {}, next.providerSpecificData ?? {})) await checkPrefix(next)
    await reencrypt(next, { was: found, apiKey: given.apiKey })
    return queryServer(next, given.apiKey === undefined ? await readCredential(found) : given.apiKey)
  }

  /**
   * Keeps the key that an app passes at each start from being sent to a URL that another program wrote to the storage. A stored URL is confirmed
   * if the stored credential was encrypted for it. Throws `INVALID_REQUEST` if it isn't, unless the input contains the URL.
   */
  async function requireConfirmedUrl(found: ConnectionRecord, given: ConnectionFields, top: TopLevel): Promise<void> {
    if (given.providerSpecificData !== undefined || (await readCredential(found)) !== undefined) return
    const field = destinationFields.find((name) => found.providerSpecificData?.[name] !== undefined && !(name in top))
    if (field)
      throw invalidInput(
        `"apiKey" would be sent to the stored "${field}", which was not confirmed with a key that can be decrypted. Send "providerSpecificData" as well, or null for the provider's default URL`,
      )
  }

  /** Whether the credential stays the same. */
  async function isSameCredential(found: ConnectionRecord, apiKey: string | null | undefined): Promise<boolean> {
    if (apiKey === undefined) return true
    return apiKey === null ? found.sealedApiKey === undefined : apiKey === (await readCredential(found))
  }

  return {
    list: async () => ({ connections: await Promise.all((await connections.all()).map(shown)) }),

    get: async (id) => shown((await find(id)).record),

    async create(input) {
      const { given, top } = parseConnection(newConnection, input)
      const written = await insert(crypto.randomUUID(), given, top)
      if (!written) throw gatewayError('INTERNAL') // a random id was drawn twice
      return answer(written)
    },

    async update(id, input) {
      const { given, top } = parseConnection(connectionChange, input)
      const { id: sentId = id, ...members } = given
      if (sentId !== id) throw invalidInput('"id" cannot be changed; omit it')
      return answer(await change((await find(id)).record, members, top))
    },

    async put(input) {
      refuseUndefined(input)
      const { given, top } = parseConnection(connectionPut, input)
      const { id, ...members } = given
      return retryLostRace(async () => {
        const entries = await connections.entries({ fresh: true })
        const found = entries.find(({ record }) => record.id === id)?.record
        if (found) return answer(await change(found, members, top, { isIdempotent: true }))
        const written = await insert(id, members, top)
        await connections.entries({ fresh: true }) // other processes know this id and may have changed the record
        return written ? answer(written) : false
      })
    },

    async discover(id) {
      const { record } = await find(id)
      return answer(await change(record, { discover: true }, {}, { isIdempotent: true }))
    },

    async delete(id) {
      await find(id)
      present(await connections.remove(id), 'Connection')
      health.reset(id)
      return { success: true }
    },
  }
}

/** Applies the given fields except the credential. `draining` is only stored if it is `true`. */
function applyChange(
  current: ConnectionRecord,
  { provider: _, apiKey: __, discover: ___, providerSpecificData, ...members }: ConnectionFields,
  top: TopLevel,
): ConnectionRecord {
  const data = changeData(current.providerSpecificData, providerSpecificData, top)
  const change = { ...members, ...(data !== undefined && { providerSpecificData: data }) }
  const { draining, ...next } = withChange(current, change)
  return { ...next, ...(draining && { draining }) }
}

/** The mark that a change leaves if it sets whether the connection is active. */
const createEdit = ({ isActive }: ConnectionFields) => (isActive === undefined ? {} : { edit: newEdit() })

/** Earlier releases allowed prefixes that are rejected now. They stay until they are changed. */
const changesPrefix = (before: ProviderSpecificData, after: ProviderSpecificData): boolean =>
  (before.prefix ?? '').trim() !== (after.prefix ?? '').trim() || (before.sharesPrefix === true && !after.sharesPrefix)

/** The most severe entries. Clients choose model names, so any number of them can fail. */
const pickMostSevere = (entries: HealthEntry[]): HealthEntry[] =>
  entries.sort((a, b) => getSeverity(b) - getSeverity(a)).slice(0, MAX_HEALTH)

const getSeverity = ({ level, state }: HealthEntry) => (level === 'connection' ? 2 : state === 'counting' ? 0 : 1)

const MAX_HEALTH = 20

/** A setting that determines the host to call. */
const getHost = ({ providerSpecificData }: ConnectionRecord, field: 'baseUrl' | 'resource') =>
  providerSpecificData?.[field]?.replace(/\/$/, '')

const UNREADABLE =
  'The credential cannot be decrypted because it was changed, moved, or encrypted with another secret. Check the URL it is sent to, then set "apiKey" again.'

const LAST = 4
const SHORTEST_SHOWN = 12

const shorten = (apiKey: string) => (apiKey.length < SHORTEST_SHOWN ? '…' : `…${apiKey.slice(-LAST)}`)
