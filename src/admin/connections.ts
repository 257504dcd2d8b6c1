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
  changedData,
  connectionChange,
  connectionPut,
  newConnection,
  parseConnection,
  type TopLevel,
} from './connection-input.ts'
import { checkCloud, misspeltKind, providerMeant, requireOwnPrefix, requireProvider } from './connection-provider.ts'
import type { ConnectionTest, TestedConnection } from './connection-test.ts'
import { type Discovered, discoverModels, warningOfUnasked, withDiscovered } from './discover-models.ts'
import { invalidInput, type OrUnset, refuseUndefined } from './input.ts'
import { connectionPriceWarnings } from './price-warnings.ts'
import {
  findRecord,
  isSameJson,
  newEdit,
  present,
  shownFields,
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

/** Parsed members of a connection. */
type Given = Omit<InputOf<typeof connectionFields, 'update'>, 'id' | 'createdAt' | 'updatedAt'>

interface Dependencies {
  store: WritableStore
  catalog: Catalog
  clock: Clock
  health: Health
  /** Calls servers for their models. */
  fetch: UpstreamFetch
  limits: { lookupTimeoutMs: number }
}

/** A written connection, and the result of asking its server for its models, if that was done. */
interface Written {
  record: ConnectionRecord
  discovered: Discovered | undefined
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

  const seal = async (to: Destination, apiKey: string) => (await store.keyring()).encrypt(getApiKeyContext(to), apiKey)

  /** A credential that cannot be opened must hide neither the other connections nor the rest of its own. */
  async function readCredential(record: ConnectionRecord): Promise<string | undefined> {
    if (record.sealedApiKey === undefined) return undefined
    await store.keyring() // without it none can be opened
    return decryptApiKey(store, record).catch(() => undefined)
  }

  /**
   * The credential of a changed connection: the given one, or the stored one sealed anew where its format or region has changed; `null` for
   * none. Throws `INVALID_REQUEST` when the stored one would be sent to another host than it was given for.
   */
  async function sealedFor(
    next: ConnectionRecord,
    { was, apiKey }: { was: ConnectionRecord; apiKey: string | null | undefined },
  ): Promise<string | null | undefined> {
    if (typeof apiKey === 'string') return seal(next, apiKey)
    if (apiKey === null || was.sealedApiKey === undefined || getApiKeyContext(next) === getApiKeyContext(was))
      return apiKey
    const moved = (['baseUrl', 'resource'] as const).find((field) => hostOf(next, field) !== hostOf(was, field))
    if (moved)
      throw invalidInput(
        `"providerSpecificData.${moved}" changes where the connection's key is sent, so send "apiKey" again as well, or null for none`,
      )
    const stored = await readCredential(was)
    return stored === undefined ? undefined : seal(next, stored) // one that cannot be opened stays so
  }

  async function shownCredential(record: ConnectionRecord): Promise<Pick<ShownConnection, 'apiKey' | 'error'>> {
    if (record.sealedApiKey === undefined) return {}
    const apiKey = await readCredential(record)
    return apiKey === undefined ? { error: UNREADABLE } : { apiKey: shortened(apiKey) }
  }

  async function shown(record: ConnectionRecord): Promise<ShownConnection> {
    const { apiKey, error } = await shownCredential(record)
    const { draining, ...plain } = record
    const { id, ...rest } = shownFields(connectionFields, {
      ...plain,
      isActive: record.isActive !== false,
      ...(draining && { draining }),
      ...(apiKey !== undefined && { apiKey }),
    })
    const unhealthy = mostSevere(
      listHealthEntries([record], health.facts).filter(({ connectionId }) => connectionId === id),
    )
    return {
      id,
      ...rest,
      ...(error !== undefined && { error }),
      ...(unhealthy.length > 0 && { health: unhealthy }),
    }
  }

  async function answer({ record, discovered }: Written): Promise<ShownConnection & Warned> {
    const warning = discovered
      ? discovered.warning
      : await warningOfUnasked(record, { catalog, customModels: store.customModels })
    const customModels = record.prices ? await store.customModels.all().catch(() => []) : [] // the change is made, whatever else cannot be read
    return withWarnings(await shown(record), [
      ...misspeltKind(record),
      ...(warning === undefined ? [] : [warning]),
      ...connectionPriceWarnings(record, { catalog, customModels }),
    ])
  }

  const askServer = (record: ConnectionRecord, apiKey: string | null | undefined) =>
    discoverModels(record, apiKey ?? undefined, { catalog, fetch, clock, timeoutMs })

  /** Sees what other processes have written, too. */
  async function checkPrefix(connection: NamedConnection & { id: string }): Promise<void> {
    const all = (await connections.entries({ fresh: true })).map(({ record }) => record)
    const others = all.filter(({ id }) => id !== connection.id)
    requireOwnPrefix(catalog, connection, others)
  }

  /**
   * Checks the prefix of a connection and writes it, so that the result of the check still holds when it is written, even against other processes.
   */
  async function withOwnPrefix<T>(connection: NamedConnection & { id: string }, write: () => Promise<T>): Promise<T> {
    await checkPrefix(connection)
    const { provider, providerSpecificData: given } = connection
    const names = given?.prefix?.trim() || !getDefinition(catalog, provider) // of a provider in the catalog, no prefix can be a name
    if (given?.sharesPrefix || !names) return write()
    return store.runExclusive('prefixes', async (ready) => {
      await checkPrefix(connection)
      ready()
      return write()
    })
  }

  /** Inserts a connection; `undefined` when its id is taken. */
  async function insert(id: string, given: Given & { provider: string }, top: TopLevel): Promise<Written | undefined> {
    const { apiKey, discover } = given
    const provider = providerMeant(catalog, given.provider)
    const data = changedData(undefined, given.providerSpecificData, top)
    requireProvider(catalog, provider, data ?? undefined)
    checkCloud(catalog, provider, { data: data ?? undefined, apiKey: apiKey ?? undefined })
    const now = timestamp(clock)
    const name = getDefinition(catalog, provider)?.name ?? provider
    const record: ConnectionRecord = {
      ...withMembers({ id, provider, name, createdAt: now, updatedAt: now }, given, top),
      ...editBy(given),
    }
    if (typeof apiKey === 'string') record.sealedApiKey = await seal(record, apiKey)
    if (discover) await checkPrefix(record) // what is refused calls nobody
    const discovered = discover ? await askServer(record, apiKey) : undefined
    const written = discovered ? withDiscovered(record, discovered) : record
    const isNew = await withOwnPrefix(written, () => connections.insert(id, written))
    return isNew ? { record: written, discovered } : undefined
  }

  /** Changes a connection; `isIdempotent`: writes nothing, and leaves its health alone, when nothing would change. */
  async function change(
    found: ConnectionRecord,
    given: Given,
    top: TopLevel,
    { isIdempotent = false } = {},
  ): Promise<Written> {
    const { id, provider } = found
    if (given.provider !== undefined && ![given.provider, providerMeant(catalog, given.provider)].includes(provider))
      throw invalidInput('"provider" cannot be changed; create a new connection instead')
    const data = changedData(found.providerSpecificData, given.providerSpecificData, top)
    if (data !== undefined) requireProvider(catalog, provider, data ?? undefined)
    if (data !== undefined || typeof given.apiKey === 'string') {
      const apiKey = given.apiKey === undefined ? await readCredential(found) : (given.apiKey ?? undefined)
      const next = data === undefined ? found.providerSpecificData : (data ?? undefined)
      checkCloud(catalog, provider, { data: next, apiKey })
    }

    if (isIdempotent && typeof given.apiKey === 'string') await requireProvenAddress(found, given, top)
    const discovered = given.discover ? await askChanged(found, given, top) : undefined
    const written = (record: ConnectionRecord): Written => ({ record, discovered })

    const changedFrom = (current: ConnectionRecord): ConnectionRecord => {
      const next = withMembers(current, given, top)
      const stored = top.enabledModels === null ? undefined : current.providerSpecificData?.enabledModels
      return discovered ? withDiscovered(next, discovered, stored) : next
    }
    const isSame = async () => (await isStored(found, given.apiKey)) && isSameJson(changedFrom(found), found)
    if (isIdempotent && (await isSame())) return written(found)

    const update = () =>
      connections.update(id, async (current) => {
        const updatedAt = timestampAfter(current.updatedAt, clock)
        const next = { ...changedFrom(current), ...editBy(given), updatedAt }
        const sealedApiKey = await sealedFor(next, { was: current, apiKey: given.apiKey })
        return sealedApiKey === undefined ? next : withChange(next, { sealedApiKey })
      })
    const touchesPrefix = data !== undefined && changesPrefix(found.providerSpecificData ?? {}, data ?? {})
    const changed = touchesPrefix
      ? await withOwnPrefix({ id, provider, ...(data && { providerSpecificData: data }) }, update)
      : await update()
    health.reset(id) // the change may have fixed what failed
    return written(present(changed, 'Connection'))
  }

  /** Asks the server of the changed connection for its models, before the change is written. Throws if the key must not be sent to that server. */
  async function askChanged(found: ConnectionRecord, given: Given, top: TopLevel): Promise<Discovered> {
    const next = withMembers(found, given, top)
    if (changesPrefix(found.providerSpecificData ?? {}, next.providerSpecificData ?? {})) await checkPrefix(next)
    await sealedFor(next, { was: found, apiKey: given.apiKey })
    return askServer(next, given.apiKey === undefined ? await readCredential(found) : given.apiKey)
  }

  /**
   * Keeps the key that a host passes at each start from being sent to an address that another program wrote into the storage. An address is proven by
   * a credential that was sealed for it. Throws `INVALID_REQUEST` when it is not, and the input does not name it.
   */
  async function requireProvenAddress(found: ConnectionRecord, given: Given, top: TopLevel): Promise<void> {
    if (given.providerSpecificData !== undefined || (await readCredential(found)) !== undefined) return
    const field = destinationFields.find((name) => found.providerSpecificData?.[name] !== undefined && !(name in top))
    if (field)
      throw invalidInput(
        `"apiKey" would be sent to the stored "${field}", which was not confirmed with a key that can be decrypted. Send "providerSpecificData" as well, or null for the provider's default URL`,
      )
  }

  /** Is the given credential the stored one, or none given? */
  async function isStored(found: ConnectionRecord, apiKey: string | null | undefined): Promise<boolean> {
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
        await connections.entries({ fresh: true }) // others know this id, and may have changed what was being written
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

/** The connection with the members that are given, but for its credential. One that does not drain has no `draining`. */
function withMembers(
  current: ConnectionRecord,
  { provider: _, apiKey: __, discover: ___, providerSpecificData, ...members }: Given,
  top: TopLevel,
): ConnectionRecord {
  const data = changedData(current.providerSpecificData, providerSpecificData, top)
  const change = { ...members, ...(data !== undefined && { providerSpecificData: data }) }
  const { draining, ...next } = withChange(current, change)
  return { ...next, ...(draining && { draining }) }
}

/** What a change leaves when it sets whether the connection is active. */
const editBy = ({ isActive }: Given) => (isActive === undefined ? {} : { edit: newEdit() })

/** A record of an earlier release may have a prefix that is refused now; it stays while it is not changed. */
const changesPrefix = (before: ProviderSpecificData, after: ProviderSpecificData): boolean =>
  (before.prefix ?? '').trim() !== (after.prefix ?? '').trim() || (before.sharesPrefix === true && !after.sharesPrefix)

/** The most severe entries, at most twenty: clients choose the names of models, and so how many of them can fail. */
const mostSevere = (entries: HealthEntry[]): HealthEntry[] =>
  entries.sort((a, b) => severityOf(b) - severityOf(a)).slice(0, MAX_HEALTH)

const severityOf = ({ level, state }: HealthEntry) => (level === 'connection' ? 2 : state === 'counting' ? 0 : 1)

const MAX_HEALTH = 20

/** The setting of a connection that names the host it calls. */
const hostOf = ({ providerSpecificData }: ConnectionRecord, field: 'baseUrl' | 'resource') =>
  providerSpecificData?.[field]?.replace(/\/$/, '')

const UNREADABLE =
  'The credential cannot be decrypted because it was changed, moved, or encrypted with another secret. Check the URL it is sent to, then set "apiKey" again.'

const LAST = 4
const SHORTEST_SHOWN = 12

const shortened = (apiKey: string) => (apiKey.length < SHORTEST_SHOWN ? '…' : `…${apiKey.slice(-LAST)}`)
