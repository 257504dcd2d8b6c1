import { gatewayError } from '../../errors.ts'
import type { Exchange, Reply } from '../../lib/exchange.ts'
import { isObject } from '../../lib/json.ts'
import { getRevision } from '../../lib/revision.ts'
import type { WritableStore } from '../../records/writable-store.ts'
import { createJsonReply } from '../../request/door/reply.ts'
import type { ComboOperations } from '../combos.ts'
import type { ConnectionOperations } from '../connections.ts'
import type { GroupOperations } from '../groups.ts'
import type { KeyOperations } from '../keys.ts'
import type { AliasOperations, CustomModelOperations } from '../models.ts'
import type { NamedOperation } from '../operation-table.ts'
import type { ProviderOperations } from '../providers.ts'
import type { SettingsOperations } from '../settings.ts'

/** The operations that read single records, and that look up names for exports. */
export interface RecordApi {
  keys: Pick<KeyOperations<unknown>, 'get' | 'list'>
  groups: Pick<GroupOperations<unknown>, 'get' | 'list'>
  guards: { get(name: string): Promise<object> }
  combos: Pick<ComboOperations<unknown>, 'get'>
  connections: Pick<ConnectionOperations<unknown>, 'get'>
  providers: Pick<ProviderOperations<unknown>, 'get'>
  settings: Pick<SettingsOperations<unknown>, 'get'>
  aliases: Pick<AliasOperations<unknown>, 'list'>
  customModels: Pick<CustomModelOperations<unknown>, 'list'>
}

/** Reads the record that an operation changes, as the API returns it. Returns `undefined` if there is none. Can also reject with `NOT_FOUND`. */
type ReadCurrentRecord = (api: RecordApi, args: readonly unknown[]) => Promise<object | undefined>

const toText = (value: unknown) => String(value)
const getMember = (value: unknown, name: string) => (isObject(value) ? value[name] : undefined)

/** Reads the current record, for each resource that has operations with `ifMatch` or `hasRevision`. */
const currentRecordReaders: Readonly<Record<string, ReadCurrentRecord>> = {
  keys: async (api, [id]) => (await api.keys.get(toText(id))).key,
  groups: (api, [id]) => api.groups.get(toText(id)),
  guards: (api, [name]) => api.guards.get(toText(name)),
  combos: (api, [id]) => api.combos.get(toText(id)),
  connections: (api, [id]) => api.connections.get(toText(id)),
  providers: (api, [id]) => api.providers.get(toText(id)),
  settings: (api) => api.settings.get(),
  aliases: async (api, [aliasOrInput]) => {
    const alias = toText(getMember(aliasOrInput, 'alias') ?? aliasOrInput)
    const { aliases } = await api.aliases.list()
    return Object.hasOwn(aliases, alias) ? { alias, model: aliases[alias] } : undefined
  },
  customModels: async (api, [aliasOrInput, id = getMember(aliasOrInput, 'id')]) => {
    const alias = getMember(aliasOrInput, 'providerAlias') ?? aliasOrInput
    const { models } = await api.customModels.list()
    return models.find((model) => model.providerAlias === alias && model.id === id)
  },
}

/**
 * Runs a change. If `If-Match` doesn't name the record's current revision, replies with a 409 and the current record instead. Changes with the header
 * run sequentially, across all instances if the storage is atomic.
 */
export async function runUnlessChanged(
  { exchange, operation, api, store }: IfMatchSettings,
  args: readonly unknown[],
  change: () => Promise<Reply>,
): Promise<Reply> {
  const ifMatch = exchange.header('if-match')
  if (ifMatch === undefined || exchange.method === 'GET' || ifMatch.trim() === '*') return change()
  const [resource = ''] = operation.names
  const readCurrentRecord = currentRecordReaders[resource]
  if (!operation.ifMatch || !readCurrentRecord)
    throw gatewayError('INVALID_REQUEST', {
      message: `"If-Match" only applies to changes of a single record. ${OMIT_ADVICE}`,
    })
  return store.runExclusive('changes', async (assertLease) => {
    await rereadRecords(store, resource)
    const record = await readCurrentRecord(api, args)
    if (record && ifMatch.split(',').some((tag) => tag.trim() === getRevision(record))) {
      assertLease()
      return change()
    }
    const { key: _, ...visibleFields } = { key: undefined, ...record }
    return createJsonReply(409, {
      error: record ? CHANGED_MESSAGE : DELETED_MESSAGE,
      ...(record && { current: visibleFields }),
    })
  })
}

interface IfMatchSettings {
  exchange: Exchange
  operation: NamedOperation
  api: RecordApi
  store: WritableStore
}

/** Returns an `ETag` header with the returned record's revision, if the operation returns a record. */
export function createRevisionHeader({ hasRevision }: NamedOperation, body: object): Record<string, string> {
  if (!hasRevision) return {}
  const record = 'key' in body && isObject(body.key) ? body.key : body
  return { etag: getRevision(record) }
}

/** Rereads the records, which other instances may have just changed. */
async function rereadRecords(store: WritableStore, resource: string): Promise<void> {
  if (resource === 'settings') await store.settings.reread()
  const { keys, groups, guards, combos, connections, providers, aliases, customModels } = store
  const records = { keys, groups, guards, combos, connections, providers, aliases, customModels }
  for (const [name, collection] of Object.entries(records))
    if (name === resource) await collection.entries({ fresh: true })
}

const OMIT_ADVICE = 'Omit it, or name the record in the path.'
const CHANGED_MESSAGE =
  'The record was changed in the meantime. "current" is its present state; to change that, send its revision as "If-Match".'
const DELETED_MESSAGE = 'The record was deleted in the meantime. Omit "If-Match" to recreate it.'
