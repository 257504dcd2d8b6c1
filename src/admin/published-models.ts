import * as v from 'valibot'
import type { LookupCache } from '../features/listing/look-up.ts'
import { getCatalogModel } from '../protocols/providers/catalog-model.ts'
import { getCatalogAlias } from '../protocols/providers/names.ts'
import type { RouteTable } from '../request/routing/route-table.ts'
import type { Integer } from '../types/plain-types.ts'
import { kinds } from '../types/unions.ts'
import type { CustomModel, Kind, ModelEntry, Price } from '../types.ts'
import { closed, fields, parseInput } from './input.ts'

/** Which models to list. Without any member: those of the kind `llm`, as `GET /v1/models` lists them, without details. */
export interface ModelsQuery {
  /** One or several kinds, with commas, or `all`; default `llm`. */
  kinds?: Kind | 'all' | readonly Kind[] | string
  /** Only models that have this text in their id, in upper or lower case. */
  q?: string
  /** The most models of a page, 1 to 1,000; default: all. */
  limit?: number
  /** The `after` of the page before. */
  after?: string
  /** Shows what is known of each model; so does every other member. */
  details?: boolean
}

/** Where a price is from: the `prices` of the connection, or of the custom model, or the catalog. */
export type PriceSource = 'connection' | 'customModel' | 'catalog'

/** A model that clients can ask for. What follows `owned_by` is shown with `details`, where it is known: of combos the kind. */
export interface PublishedModel extends Omit<ModelEntry, 'kind'> {
  kind?: Kind
  /** Of the first connection that has the model: US dollars, tokens by the million, everything else each. */
  price?: Price
  priceSource?: PriceSource
  /** Largest sum of input and output, in tokens. */
  contextWindow?: Integer
  /** Largest output, in tokens. */
  maxOutput?: Integer
}

/** What clients can ask for. `Input` is accepted besides the typed input: nothing in process, `unknown` over HTTP. */
export interface ModelOperations<Input = never> {
  /**
   * The models that clients can request, for a caller of the management API, who needs no API key. `after`: where the next page begins; absent on the
   * last page.
   */
  published(query?: ModelsQuery | Input): Promise<{ object: 'list'; data: PublishedModel[]; after?: string }>
}

const KINDS = `must be "all" or a comma-separated list of ${kinds.join(', ')}`
const oneKind = v.picklist(kinds, KINDS)
const isKindList = (text: string) => text === 'all' || text.split(',').every((one) => v.is(oneKind, one))

export const modelInputs = {
  published: closed({
    kinds: v.exactOptional(
      v.union(
        [v.pipe(v.string(), v.check(isKindList, KINDS)), v.pipe(v.array(oneKind, KINDS), v.minLength(1, KINDS))],
        KINDS,
      ),
    ),
    q: v.exactOptional(fields.filter),
    limit: v.exactOptional(fields.pageSize),
    after: v.exactOptional(v.pipe(fields.text, v.regex(/^\d{1,9}:/, 'must be the "after" value of a previous page'))),
    details: v.exactOptional(fields.flag),
  }),
}

/** `published`: lists the models of some kinds; those of providers that are asked come once for all lists that share `cache`. */
export function createModelOperations({
  published,
  routes,
  store: { customModels },
}: {
  published(kinds: readonly Kind[], cache?: LookupCache): Promise<ModelEntry[]>
  /** Where model names lead now. */
  routes(): Promise<RouteTable>
  store: { customModels: { all(): Promise<readonly CustomModel[]> } }
}): ModelOperations<unknown> {
  /** Each model once, with its kind. */
  async function listed(kinds: readonly Kind[]): Promise<PublishedModel[]> {
    const found = new Map<string, PublishedModel>()
    const cache: LookupCache = new Map()
    for (const kind of kinds)
      for (const entry of await published([kind], cache))
        if (!found.has(entry.id)) found.set(entry.id, { ...entry, kind })
    return [...found.values()]
  }

  return {
    async published(query = {}) {
      const input = parseInput(modelInputs.published, query)
      const { details = false, kinds: wanted = 'llm', q = '', after, limit = Number.POSITIVE_INFINITY } = input
      if (!details && Object.keys(input).every((name) => name === 'details'))
        return { object: 'list', data: await published(['llm']) }
      const all = await listed(kindsOf(wanted))
      const start = after === undefined ? 0 : placeAfter(all, after)
      const meant = all.slice(start).filter(({ id }) => id.toLowerCase().includes(q.toLowerCase()))
      const page = meant.slice(0, limit)
      const last = page.at(-1)
      const [table, customs] = await Promise.all([routes(), customModels.all()])
      const data = page.map((model) => ({ ...model, ...factsOf(model, table, customs) }))
      if (!last || page.length === meant.length) return { object: 'list', data }
      return { object: 'list', data, after: `${all.indexOf(last)}:${last.id}` }
    },
  }
}

function kindsOf(wanted: string | readonly Kind[]): readonly Kind[] {
  if (wanted === 'all') return kinds
  const names: readonly string[] = typeof wanted === 'string' ? wanted.split(',') : wanted
  return kinds.filter((kind) => names.includes(kind))
}

/** Where the models after a page begin, also when its last one is no longer there. */
function placeAfter(all: readonly PublishedModel[], after: string): number {
  const colon = after.indexOf(':')
  const at = all.findIndex(({ id }) => id === after.slice(colon + 1))
  return at >= 0 ? at + 1 : Number(after.slice(0, colon))
}

/** What is known of a model: as it is at the first connection that has it, or in the catalog where no provider is connected. */
function factsOf({ id, owned_by: owner }: PublishedModel, table: RouteTable, customs: readonly CustomModel[]) {
  const { catalog } = table
  const [target] = table.findTargets(id) ?? []
  const model = target?.model ?? id.slice(owner.length + 1)
  const provider = target?.provider ?? Object.keys(catalog).find((one) => getCatalogAlias(one, catalog[one]) === owner)
  const known = provider === undefined ? undefined : getCatalogModel(catalog, { provider, model })
  const custom = customs.find((one) => one.providerAlias === owner && one.id.trim() === model)
  const ownPrice = target ? target.ownPrice : custom?.prices
  const isOfConnection = target !== undefined && Object.hasOwn(target.connection.prices ?? {}, model)
  const price = ownPrice ?? known?.price
  const source = ownPrice ? (isOfConnection ? 'connection' : 'customModel') : 'catalog'
  return {
    ...(price && { price, priceSource: source }),
    ...(known?.contextWindow !== undefined && { contextWindow: known.contextWindow }),
    ...(known?.maxOutputTokens !== undefined && { maxOutput: known.maxOutputTokens }),
  } satisfies Partial<PublishedModel>
}
