import * as v from 'valibot'
import type { LookupCache } from '../features/listing/model-lookup.ts'
import { getCatalogModel } from '../protocols/providers/catalog-model.ts'
import { getCatalogAlias } from '../protocols/providers/provider-names.ts'
import type { RouteTable } from '../request/routing/route-table.ts'
import type { Integer } from '../types/plain-types.ts'
import { kinds } from '../types/unions.ts'
import type { CustomModel, Kind, ModelEntry, Price } from '../types.ts'
import { closedObject, createChoiceListSchema, fields, parseInput } from './input.ts'

/** Which models to list. Default: the kind `llm`, like `GET /v1/models`, without details. */
export interface ModelsQuery {
  /** One or more kinds, as an array or comma-separated, or `all`. Default: `llm`. */
  kinds?: Kind | 'all' | readonly Kind[] | string
  /** Only models whose ID contains this string; case-insensitive. */
  q?: string
  /** Maximum models per page, 1 to 1,000. Default: all. */
  limit?: number
  /** The `after` of the previous page. */
  after?: string
  /** Includes details of each model. Setting any other field also includes them. */
  details?: boolean
}

/** The source of a price: the `prices` of the connection or the custom model, or the catalog. */
export type PriceSource = 'connection' | 'customModel' | 'catalog'

/** A model that clients can request. The fields after `owned_by` need `details`, and are absent if unknown. Combos only have `kind`. */
export interface PublishedModel extends Omit<ModelEntry, 'kind'> {
  kind?: Kind
  /** The price at the first connection with the model, in USD per million tokens or per unit. */
  price?: Price
  priceSource?: PriceSource
  /** Maximum input and output tokens combined. */
  contextWindow?: Integer
  /** Maximum output tokens. */
  maxOutput?: Integer
}

/**
 * The models that clients can request. Methods take the typed input or `Input`, which is `never` for in-process calls and `unknown` for HTTP input.
 */
export interface ModelOperations<Input = never> {
  /** Lists the models. No API key is needed. `after` is the start of the next page, and absent on the last page. */
  published(query?: ModelsQuery | Input): Promise<{ object: 'list'; data: PublishedModel[]; after?: string }>
}

const KINDS_MESSAGE = `must be "all" or a comma-separated list of ${kinds.join(', ')}`

export const modelInputs = {
  published: closedObject({
    kinds: v.exactOptional(createChoiceListSchema(kinds, KINDS_MESSAGE, 'all')),
    q: v.exactOptional(fields.filter),
    limit: v.exactOptional(fields.pageSize),
    after: v.exactOptional(v.pipe(fields.text, v.regex(/^\d{1,9}:/, 'must be the "after" value of a previous page'))),
    details: v.exactOptional(fields.flag),
  }),
}

/** Creates the operations. `published` lists the models of the given kinds. Lists that share `cache` query each provider once. */
export function createModelOperations({
  published,
  routes,
  store: { customModels },
}: {
  published(kinds: readonly Kind[], cache?: LookupCache): Promise<ModelEntry[]>
  /** Returns the current routing table, which resolves model names. */
  routes(): Promise<RouteTable>
  store: { customModels: { all(): Promise<readonly CustomModel[]> } }
}): ModelOperations<unknown> {
  /** Lists each model once, with its kind. */
  async function listModels(kinds: readonly Kind[]): Promise<PublishedModel[]> {
    const modelsById = new Map<string, PublishedModel>()
    const cache: LookupCache = new Map()
    for (const kind of kinds)
      for (const entry of await published([kind], cache))
        if (!modelsById.has(entry.id)) modelsById.set(entry.id, { ...entry, kind })
    return [...modelsById.values()]
  }

  return {
    async published(query = {}) {
      const input = parseInput(modelInputs.published, query)
      const { details = false, kinds: requestedKinds = 'llm', q = '', after, limit = Number.POSITIVE_INFINITY } = input
      if (!details && Object.keys(input).every((name) => name === 'details'))
        return { object: 'list', data: await published(['llm']) }
      const models = await listModels(parseKinds(requestedKinds))
      const start = after === undefined ? 0 : findStartIndex(models, after)
      const matchingModels = models.slice(start).filter(({ id }) => id.toLowerCase().includes(q.toLowerCase()))
      const page = matchingModels.slice(0, limit)
      const lastModel = page.at(-1)
      const [table, customs] = await Promise.all([routes(), customModels.all()])
      const data = page.map((model) => ({ ...model, ...findDetails(model, table, customs) }))
      if (!lastModel || page.length === matchingModels.length) return { object: 'list', data }
      return { object: 'list', data, after: `${models.indexOf(lastModel)}:${lastModel.id}` }
    },
  }
}

function parseKinds(requestedKinds: string | readonly Kind[]): readonly Kind[] {
  if (requestedKinds === 'all') return kinds
  const names: readonly string[] = typeof requestedKinds === 'string' ? requestedKinds.split(',') : requestedKinds
  return kinds.filter((kind) => names.includes(kind))
}

/** Returns the index of the first model after a page, even if the last model of the page has been removed. */
function findStartIndex(models: readonly PublishedModel[], after: string): number {
  const separatorIndex = after.indexOf(':')
  const index = models.findIndex(({ id }) => id === after.slice(separatorIndex + 1))
  return index >= 0 ? index + 1 : Number(after.slice(0, separatorIndex))
}

/** Returns a model's details: from the first connection that has it, or else from the catalog. */
function findDetails({ id, owned_by: owner }: PublishedModel, table: RouteTable, customModels: readonly CustomModel[]) {
  const { catalog } = table
  const [target] = table.findTargets(id) ?? []
  const model = target?.model ?? id.slice(owner.length + 1)
  const provider =
    target?.provider ?? Object.keys(catalog).find((name) => getCatalogAlias(name, catalog[name]) === owner)
  const catalogModel = provider === undefined ? undefined : getCatalogModel(catalog, { provider, model })
  const customModel = customModels.find((custom) => custom.providerAlias === owner && custom.id.trim() === model)
  const ownPrice = target ? target.ownPrice : customModel?.prices
  const isConnectionPrice = target !== undefined && Object.hasOwn(target.connection.prices ?? {}, model)
  const price = ownPrice ?? catalogModel?.price
  const source = ownPrice ? (isConnectionPrice ? 'connection' : 'customModel') : 'catalog'
  return {
    ...(price && { price, priceSource: source }),
    ...(catalogModel?.contextWindow !== undefined && { contextWindow: catalogModel.contextWindow }),
    ...(catalogModel?.maxOutputTokens !== undefined && { maxOutput: catalogModel.maxOutputTokens }),
  } satisfies Partial<PublishedModel>
}
