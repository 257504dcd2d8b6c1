import type { UpstreamFetch } from '../lib/exchange.ts'
import { getDefinition, type NamedConnection } from '../protocols/providers/provider-names.ts'
import { requireStored } from '../records/defined-in-code.ts'
import type { ConnectionRecord } from '../records/record-collections.ts'
import type { WritableStore } from '../records/writable-store.ts'
import type { Catalog, Clock, ProviderSpecificData } from '../types.ts'
import type { ConnectionCredentials } from './connection-credentials.ts'
import { type ConnectionInput, changeProviderData, type ParsedConnection } from './connection-input.ts'
import { requireProvider, requireUniquePrefix, resolveProvider, validateCloudSettings } from './connection-provider.ts'
import { addDiscoveredModels, type Discovery, discoverModels } from './discover-models.ts'
import { createInputError } from './input.ts'
import {
  createEditId,
  getTimestamp,
  getTimestampAfter,
  isSameJson,
  requirePresent,
  withChange,
} from './record-operations.ts'

export interface ConnectionDependencies {
  store: WritableStore
  catalog: Catalog
  clock: Clock
  /** Used to query servers for their models. */
  fetch: UpstreamFetch
  limits: { lookupTimeoutMs: number }
}

/** A written connection, and the result of querying its server for models, if it was queried. */
export interface WriteResult {
  record: ConnectionRecord
  discovery: Discovery | undefined
  /** Whether the record was left unchanged because nothing would have changed. */
  isUnchanged?: boolean
}

/** Inserts and changes connections. */
export class ConnectionWriter {
  readonly #deps: ConnectionDependencies
  readonly #credentials: ConnectionCredentials

  constructor(deps: ConnectionDependencies, credentials: ConnectionCredentials) {
    this.#deps = deps
    this.#credentials = credentials
  }

  /** Inserts a connection. Resolves to `undefined` if its ID is taken. With `replacesDamaged`, also overwrites an unusable record. */
  async insert(
    id: string,
    { fields, topLevel }: ParsedConnection<ConnectionInput & { provider: string }>,
    { replacesDamaged = false } = {},
  ): Promise<WriteResult | undefined> {
    const { catalog, clock, store } = this.#deps
    const { apiKey, discover } = fields
    const provider = resolveProvider(catalog, fields.provider)
    const data = changeProviderData(undefined, fields.providerSpecificData, topLevel)
    requireProvider(catalog, provider, data ?? undefined)
    validateCloudSettings(catalog, provider, { data: data ?? undefined, apiKey: apiKey ?? undefined })
    const now = getTimestamp(clock)
    const name = getDefinition(catalog, provider)?.name ?? provider
    const record: ConnectionRecord = {
      ...applyChange({ id, provider, name, createdAt: now, updatedAt: now }, { fields, topLevel }),
      ...createEditIfActiveSet(fields),
    }
    if (typeof apiKey === 'string') record.sealedApiKey = await this.#credentials.encrypt(record, apiKey)
    if (discover) await this.#checkPrefix(record) // fail before querying the server
    const discovery = discover ? await this.#discoverModels(record, apiKey) : undefined
    const completeRecord = discovery ? addDiscoveredModels(record, discovery) : record
    const isNew = await this.#reservePrefix(
      completeRecord,
      async () =>
        (await store.connections.insert(id, completeRecord)) ||
        (replacesDamaged && (await store.connections.replaceDamaged(id, completeRecord))),
    )
    return isNew ? { record: completeRecord, discovery } : undefined
  }

  /** Changes a connection. With `isIdempotent`, writes nothing if nothing would change. */
  async change(
    currentRecord: ConnectionRecord,
    input: ParsedConnection,
    { isIdempotent }: { isIdempotent: boolean },
  ): Promise<WriteResult> {
    const { fields, topLevel } = input
    if (fields.discover) requireStored(currentRecord) // fail before querying the server
    const data = await this.#checkChange(currentRecord, input)
    if (isIdempotent && typeof fields.apiKey === 'string')
      await this.#credentials.requireConfirmedUrl(currentRecord, input)
    const discovery = fields.discover ? await this.#discoverAfterChange(currentRecord, input) : undefined

    const applyInput = (current: ConnectionRecord): ConnectionRecord => {
      const changedRecord = applyChange(current, input)
      const storedModels = topLevel.enabledModels === null ? undefined : current.providerSpecificData?.enabledModels
      return discovery ? addDiscoveredModels(changedRecord, discovery, storedModels) : changedRecord
    }
    if (
      isIdempotent &&
      (await this.#credentials.isSameKey(currentRecord, fields.apiKey)) &&
      isSameJson(applyInput(currentRecord), currentRecord)
    )
      return { record: currentRecord, discovery, isUnchanged: true }

    const { id, provider } = currentRecord
    const update = () =>
      this.#deps.store.connections.update(id, async (current) => {
        const updatedAt = getTimestampAfter(current.updatedAt, this.#deps.clock)
        const changedRecord = { ...applyInput(current), ...createEditIfActiveSet(fields), updatedAt }
        const sealedApiKey = await this.#credentials.reencrypt(changedRecord, {
          previousRecord: current,
          apiKey: fields.apiKey,
        })
        return sealedApiKey === undefined ? changedRecord : withChange(changedRecord, { sealedApiKey })
      })
    const touchesPrefix = data !== undefined && changesPrefix(currentRecord.providerSpecificData ?? {}, data ?? {})
    const updatedRecord = touchesPrefix
      ? await this.#reservePrefix({ id, provider, ...(data && { providerSpecificData: data }) }, update)
      : await update()
    return { record: requirePresent(updatedRecord, 'Connection'), discovery }
  }

  /** Returns the changed `providerSpecificData`. Throws `INVALID_REQUEST` for a change that the connection's provider doesn't allow. */
  async #checkChange(
    currentRecord: ConnectionRecord,
    { fields, topLevel }: ParsedConnection,
  ): Promise<ProviderSpecificData | null | undefined> {
    const { catalog } = this.#deps
    const { provider } = currentRecord
    if (
      fields.provider !== undefined &&
      ![fields.provider, resolveProvider(catalog, fields.provider)].includes(provider)
    )
      throw createInputError('"provider" cannot be changed; create a new connection instead')
    const data = changeProviderData(currentRecord.providerSpecificData, fields.providerSpecificData, topLevel)
    if (data !== undefined) requireProvider(catalog, provider, data ?? undefined)
    if (data !== undefined || typeof fields.apiKey === 'string') {
      const apiKey =
        fields.apiKey === undefined ? await this.#credentials.read(currentRecord) : (fields.apiKey ?? undefined)
      const nextData = data === undefined ? currentRecord.providerSpecificData : (data ?? undefined)
      validateCloudSettings(catalog, provider, { data: nextData, apiKey })
    }
    return data
  }

  /** Queries the changed connection's server for its models before the change is written. Throws if the key must not be sent to that server. */
  async #discoverAfterChange(currentRecord: ConnectionRecord, input: ParsedConnection): Promise<Discovery> {
    const { apiKey } = input.fields
    const changedRecord = applyChange(currentRecord, input)
    if (changesPrefix(currentRecord.providerSpecificData ?? {}, changedRecord.providerSpecificData ?? {}))
      await this.#checkPrefix(changedRecord)
    await this.#credentials.reencrypt(changedRecord, { previousRecord: currentRecord, apiKey })
    return this.#discoverModels(
      changedRecord,
      apiKey === undefined ? await this.#credentials.read(currentRecord) : apiKey,
    )
  }

  #discoverModels(record: ConnectionRecord, apiKey: string | null | undefined): Promise<Discovery> {
    const { catalog, fetch, clock, limits } = this.#deps
    return discoverModels(record, apiKey ?? undefined, { catalog, fetch, clock, timeoutMs: limits.lookupTimeoutMs })
  }

  /** Checks the prefix against all connections, including ones that other processes have just written. */
  async #checkPrefix(connection: NamedConnection & { id: string }): Promise<void> {
    const records = (await this.#deps.store.connections.entries({ fresh: true })).map(({ record }) => record)
    const otherRecords = records.filter(({ id }) => id !== connection.id)
    requireUniquePrefix(this.#deps.catalog, connection, otherRecords)
  }

  /** Checks a connection's prefix and writes the connection. No other process can take the prefix in between. */
  async #reservePrefix<T>(connection: NamedConnection & { id: string }, write: () => Promise<T>): Promise<T> {
    await this.#checkPrefix(connection)
    const { provider, providerSpecificData: data } = connection
    const hasCustomName = data?.prefix?.trim() || !getDefinition(this.#deps.catalog, provider) // catalog names are reserved, so they need no lock
    if (data?.sharesPrefix || !hasCustomName) return write()
    return this.#deps.store.runExclusive('prefixes', async (assertLease) => {
      await this.#checkPrefix(connection)
      assertLease()
      return write()
    })
  }
}

/** Applies the given fields except the credential. `draining` is only stored if it is `true`. */
function applyChange(
  current: ConnectionRecord,
  { fields: { provider: _, apiKey: __, discover: ___, providerSpecificData, ...members }, topLevel }: ParsedConnection,
): ConnectionRecord {
  const data = changeProviderData(current.providerSpecificData, providerSpecificData, topLevel)
  const change = { ...members, ...(data !== undefined && { providerSpecificData: data }) }
  const { draining, ...next } = withChange(current, change)
  return { ...next, ...(draining && { draining }) }
}

/** Returns a new edit ID if a change sets whether the connection is active. */
const createEditIfActiveSet = ({ isActive }: ConnectionInput) =>
  isActive === undefined ? {} : { edit: createEditId() }

/** Returns whether a change affects the prefix. Earlier releases allowed prefixes that are rejected now; those are kept until they change. */
const changesPrefix = (before: ProviderSpecificData, after: ProviderSpecificData): boolean =>
  (before.prefix ?? '').trim() !== (after.prefix ?? '').trim() || (before.sharesPrefix === true && !after.sharesPrefix)
