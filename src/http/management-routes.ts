import { gatewayError, toGatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import type { BodyLimits } from '../lib/timed-body.ts'
import type { Management } from '../management/management.ts'
import { readJsonBody } from './json-body.ts'
import { listReply } from './list-reply.ts'
import type { Method, Route, RoutedRequest } from './route.ts'

/** The input of an operation; parts that the route does not have are empty. */
interface Call {
  id: string
  alias: string
  providerAlias: string
  key: string
  body: JsonObject
}

/** Method (all but GET and DELETE have a body), path, message for an internal error, operation, and its status if it is not 200. */
type Row = readonly [Method, string, failure: string, run: (call: Call) => Promise<object>, status?: number]

/** The management API over HTTP, one row for each operation; `PATCH` does what `PUT` does. `limits`: those of bodies. */
export function managementRoutes(api: Management<unknown>, limits: BodyLimits = { maxBytes: 1024 * 1024 }): Route[] {
  const { keys, settings, combos, connections, customModels, aliases, providers, health, damagedRecords, explain } = api
  const rows: readonly Row[] = [
    ['GET', '/api/keys', 'Failed to fetch keys', () => keys.list()],
    ['POST', '/api/keys', 'Failed to create key', ({ body }) => keys.create(body), 201],
    ['GET', '/api/keys/:id', 'Failed to fetch key', ({ id }) => keys.get(id)],
    ['PUT', '/api/keys/:id', 'Failed to update key', ({ id, body }) => keys.update(id, body)],
    ['DELETE', '/api/keys/:id', 'Failed to delete key', ({ id }) => keys.delete(id)],

    ['GET', '/api/settings', 'Failed to fetch settings', () => settings.get()],
    ['PATCH', '/api/settings', 'Failed to update settings', ({ body }) => settings.update(body)],

    ['GET', '/api/combos', 'Failed to fetch combos', () => combos.list()],
    ['POST', '/api/combos', 'Failed to create combo', ({ body }) => combos.create(body), 201],
    ['GET', '/api/combos/:id', 'Failed to fetch combo', ({ id }) => combos.get(id)],
    ['PUT', '/api/combos/:id', 'Failed to update combo', ({ id, body }) => combos.update(id, body)],
    ['DELETE', '/api/combos/:id', 'Failed to delete combo', ({ id }) => combos.delete(id)],

    ['GET', '/api/connections', 'Failed to fetch connections', () => connections.list()],
    ['POST', '/api/connections', 'Failed to create connection', ({ body }) => connections.create(body), 201],
    ['GET', '/api/connections/:id', 'Failed to fetch connection', ({ id }) => connections.get(id)],
    ['PUT', '/api/connections/:id', 'Failed to update connection', ({ id, body }) => connections.update(id, body)],
    ['DELETE', '/api/connections/:id', 'Failed to delete connection', ({ id }) => connections.delete(id)],

    ['GET', '/api/models/custom', 'Failed to fetch custom models', () => customModels.list()],
    ['POST', '/api/models/custom', 'Failed to create custom model', ({ body }) => customModels.create(body), 201],
    [
      'DELETE',
      '/api/models/custom/:providerAlias/:id+',
      'Failed to delete custom model',
      ({ providerAlias, id }) => customModels.delete(providerAlias, id),
    ],

    ['GET', '/api/models/aliases', 'Failed to fetch aliases', () => aliases.list()],
    ['PUT', '/api/models/aliases', 'Failed to set alias', ({ body }) => aliases.set(body)],
    ['DELETE', '/api/models/aliases/:alias+', 'Failed to delete alias', ({ alias }) => aliases.delete(alias)],

    ['GET', '/api/providers', 'Failed to fetch providers', () => providers.list()],
    ['GET', '/api/providers/:id', 'Failed to fetch provider', ({ id }) => providers.get(id)],
    ['PUT', '/api/providers/:id', 'Failed to update provider', ({ id, body }) => providers.update(id, body)],

    ['POST', '/api/explain', 'Failed to explain', ({ body }) => explain(body)],

    ['GET', '/api/health', 'Failed to fetch health', () => health.list()],
    ['GET', '/api/health/records/:key+', 'Failed to fetch record', ({ key }) => damagedRecords.get(key)],
    ['PUT', '/api/health/records/:key+', 'Failed to repair record', ({ key, body }) => damagedRecords.put(key, body)],
    ['DELETE', '/api/health/records/:key+', 'Failed to remove record', ({ key }) => damagedRecords.delete(key)],
    ['DELETE', '/api/health', 'Failed to reset health', () => health.reset()],
    ['DELETE', '/api/health/:id', 'Failed to reset health', ({ id }) => health.reset(id)],
  ]
  return [...rows, ...rows.filter(isPut).map(asPatch)].map((row) => routeOf(row, limits))
}

const isPut = ([method]: Row) => method === 'PUT'

const asPatch = ([, ...rest]: Row): Row => ['PATCH', ...rest]

function routeOf([method, path, failure, run, status = 200]: Row, limits: BodyLimits): Route {
  const bringsBody = method !== 'GET' && method !== 'DELETE'

  async function call({ exchange, params }: RoutedRequest): Promise<object> {
    const { id = '', alias = '', providerAlias = '', key = '' } = params
    const body = bringsBody ? await readJsonBody(exchange, limits) : {}
    return run({ id, alias, providerAlias, key, body })
  }

  return {
    method,
    path,
    run: async (request) => {
      try {
        return listReply(status, await call(request))
      } catch (cause) {
        const { status, code } = toGatewayError(cause)
        if (status !== 500 || code === 'BODY_ALREADY_READ') throw cause
        throw gatewayError('INTERNAL', { message: failure, cause })
      }
    },
  }
}
