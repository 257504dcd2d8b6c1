import { gatewayError } from '../errors.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { isObject } from '../lib/json.ts'
import { revisionOf } from '../lib/revision.ts'
import type { Management, ServedOperation } from '../management/operations.ts'
import type { WritableStore } from '../store/writable-store.ts'
import { jsonReply } from './reply.ts'

/** The record that an operation changes, as the API shows it; `undefined` where there is none. Rejects with `NOT_FOUND` where the operation would. */
type Current = (api: Management<unknown>, args: readonly unknown[]) => Promise<object | undefined>

const textOf = (value: unknown) => String(value)
const memberOf = (value: unknown, name: string) => (isObject(value) ? value[name] : undefined)

/** By the resource, for each that has operations with `ifMatch` or `hasRevision`. */
const currents: Readonly<Record<string, Current>> = {
  keys: async (api, [id]) => (await api.keys.get(textOf(id))).key,
  groups: (api, [id]) => api.groups.get(textOf(id)),
  combos: (api, [id]) => api.combos.get(textOf(id)),
  connections: (api, [id]) => api.connections.get(textOf(id)),
  providers: (api, [id]) => api.providers.get(textOf(id)),
  settings: (api) => api.settings.get(),
  aliases: async (api, [given]) => {
    const alias = textOf(memberOf(given, 'alias') ?? given)
    const { aliases } = await api.aliases.list()
    return Object.hasOwn(aliases, alias) ? { alias, model: aliases[alias] } : undefined
  },
  customModels: async (api, [given, id = memberOf(given, 'id')]) => {
    const alias = memberOf(given, 'providerAlias') ?? given
    const { models } = await api.customModels.list()
    return models.find((model) => model.providerAlias === alias && model.id === id)
  },
}

/**
 * Runs a change unless its record is another one than `If-Match` names: then it replies with 409 and the record as it is. Without the header
 * it just runs. Changes with the header wait for one another, on all gateways of an atomic storage.
 */
export async function unlessChanged(
  { exchange, operation, api, store }: ChangeTerms,
  args: readonly unknown[],
  change: () => Promise<Reply>,
): Promise<Reply> {
  const wanted = exchange.header('if-match')
  if (wanted === undefined || exchange.method === 'GET' || wanted.trim() === '*') return change()
  const [resource = ''] = operation.names
  const current = currents[resource]
  if (!operation.ifMatch || !current)
    throw gatewayError('INVALID_REQUEST', { message: `"If-Match" is for changes of one record. ${LEAVE_IT_OUT}` })
  return store.alone('changes', async (ready) => {
    await freshly(store, resource)
    const record = await current(api, args)
    if (record && wanted.split(',').some((tag) => tag.trim() === revisionOf(record))) {
      ready()
      return change()
    }
    const { key: _, ...shown } = { key: undefined, ...record }
    return jsonReply(409, { error: record ? CHANGED : GONE, ...(record && { current: shown }) })
  })
}

interface ChangeTerms {
  exchange: Exchange
  operation: ServedOperation
  api: Management<unknown>
  store: WritableStore
}

/** The header with the revision of what an operation has read, if it has one. */
export function revisionHeader({ hasRevision }: ServedOperation, body: object): Record<string, string> {
  if (!hasRevision) return {}
  const record = 'key' in body && isObject(body.key) ? body.key : body
  return { etag: revisionOf(record) }
}

/** Others may have changed it a moment ago. */
async function freshly(store: WritableStore, resource: string): Promise<void> {
  if (resource === 'settings') await store.settings.reread()
  const { keys, groups, combos, connections, providers, aliases, customModels } = store
  const records = { keys, groups, combos, connections, providers, aliases, customModels }
  for (const [name, one] of Object.entries(records)) if (name === resource) await one.entries({ fresh: true })
}

const LEAVE_IT_OUT = 'Leave it out, or name the record in the path.'
const CHANGED = 'It was changed meanwhile: "current" is how it is now. Send its revision as "If-Match" to change that.'
const GONE = 'It was removed meanwhile. Leave out "If-Match" to make it anew.'
