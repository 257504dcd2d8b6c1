import { gatewayError } from '../errors.ts'
import { NAME_PREFIX } from '../formats/gemini/client/models.ts'
import { modelLists } from '../formats/model-lists.ts'
import type { UpstreamFetch } from '../lib/exchange.ts'
import { didYouMean, nearest } from '../lib/spelling.ts'
import { activeInOrder } from '../providers/connections.ts'
import { catalogAliasOf, definitionOf, namesOf } from '../providers/names.ts'
import type { ProviderTarget } from '../providers/target.ts'
import type { AliasRecord, ConnectionRecord, Store } from '../store/store.ts'
import { kinds } from '../types/unions.ts'
import type { Catalog, Clock, Combo, CustomModel, Kind, ModelEntry } from '../types.ts'
import { listConnections } from './connection-path.ts'
import { createKindLookup, kindOf, type Listed, listCustomModels, serves, toEntries } from './entries.ts'
import { cachedLookUp, createLookUp, type LookUpCache } from './look-up.ts'

export interface ListingDeps {
  store: {
    connections: Readable<ConnectionRecord>
    combos: Readable<Combo>
    customModels: Readable<CustomModel>
    aliases: Readable<AliasRecord>
    vault: Store['vault']
  }
  catalog: Catalog
  clock: Clock
  /** Called with failures that the listing tolerates: records that cannot be loaded, upstreams that list no models. */
  onError(error: unknown): void
  /**
   * The targets that a request for a name has, by priority: none for a combo, `undefined` for a name that leads nowhere. Default: only listed names
   * have targets.
   */
  targetsOf?: ((model: string) => Promise<Targets | undefined>) | undefined
  /** How long one upstream may take to list its models, headers and body together; default 5,000. */
  lookupTimeoutMs?: number | undefined
}

interface Readable<T> {
  all(): Promise<readonly T[]>
}

type Targets = ReadonlyArray<Pick<ProviderTarget<ConnectionRecord>, 'connection' | 'model'>>

/** Lists the models that the gateway serves. */
export interface Listing {
  /**
   * The models of the given kinds that `reader` may ask for, computed anew each time; compatible providers are asked for their models through
   * `fetch`, only once for all lists that share `cache`.
   */
  list(
    kinds: readonly Kind[],
    fetch: UpstreamFetch,
    options?: { reader?: ListReader; cache?: LookUpCache },
  ): Promise<ModelEntry[]>
  /**
   * The entry of a model id, which may have Google's prefix `models/`, and the kinds among which it was found: `llm` first, then all others,
   * then its own, for a name that is served and not listed. Rejects with `MODEL_NOT_FOUND`, naming the nearest ids, also for a model that
   * `reader` may not ask for.
   */
  find(id: string, fetch: UpstreamFetch, reader?: ListReader): Promise<FoundModel>
  /** How the list is written for the clients of each format. */
  forms: typeof modelLists
}

/** The models that the reader of a list may use. */
export interface ListReader {
  allowsKind(kind: Kind): boolean
  /** By the name of a model, a combo or an alias. */
  allowsModel(model: string): boolean
}

const EVERYBODY: ListReader = { allowsKind: () => true, allowsModel: () => true }

interface FoundModel {
  entry: ModelEntry
  kinds: readonly Kind[]
}

/** Makes the listing (src/rules.md, Listing: what is loaded, and in which order). */
export function createListing({
  store,
  catalog,
  clock,
  onError,
  targetsOf = async () => undefined,
  lookupTimeoutMs = 5_000,
}: ListingDeps): Listing {
  /** Records that cannot be loaded count as none, for this listing only. */
  async function load<T>(records: Readable<T>): Promise<readonly T[]> {
    try {
      return await records.all()
    } catch (error) {
      onError(error)
      return []
    }
  }

  /**
   * The entry of a name that is not listed and leads to a target all the same, as one of a second connection to a provider does; `undefined`
   * when all that it leads to has listed its models a moment ago, without this one.
   */
  async function unlisted(id: string, asked: LookUpCache): Promise<FoundModel | undefined> {
    const targets = await targetsOf(id).catch(onError)
    if (!targets) return undefined
    const answers = await Promise.all(targets.map(({ connection }) => asked.get(connection.id)))
    const [first] = targets
    if (first && answers.every((ids) => ids?.length)) return undefined
    const names = first && namesOf(catalog, first.connection)
    const models = first && definitionOf(catalog, first.connection.provider)?.models
    const kind = first && names ? createKindLookup(models ?? [], names)(first.model) : 'llm'
    const [entry] = toEntries([{ id, owner: names?.output ?? 'combo' }], Math.floor(clock.now() / 1_000))
    return entry && { entry, kinds: [kind] }
  }

  const listing: Listing = {
    async list(asked, fetch, { reader = EVERYBODY, cache = new Map() } = {}) {
      const kinds = asked.filter(reader.allowsKind)
      const created = Math.floor(clock.now() / 1_000)
      const [stored, combos, customModels, aliases] = await Promise.all([
        load(store.connections),
        load(store.combos),
        load(store.customModels),
        load(store.aliases),
      ])
      const connections = activeInOrder(stored)
      const lookUp = cachedLookUp(createLookUp({ store, clock, timeoutMs: lookupTimeoutMs, onError }, fetch), cache)
      const models =
        connections.length === 0
          ? listStatic(catalog, customModels, kinds)
          : await listConnections({ catalog, connections, customModels, aliases }, kinds, lookUp)
      const entries = toEntries([...listCombos(combos, kinds), ...models], created)
      return entries.filter(({ id }) => reader.allowsModel(id))
    },
    async find(id, fetch, reader = EVERYBODY) {
      const cache: LookUpCache = new Map() // a slow upstream is waited for once
      const bare = id.startsWith(NAME_PREFIX) ? id.slice(NAME_PREFIX.length) : id
      const seen: ModelEntry[][] = []
      for (const kinds of [LLM, OTHERS]) {
        const entries = await listing.list(kinds, fetch, { reader, cache })
        const entry = entries.find((one) => one.id === id) ?? entries.find((one) => one.id === bare)
        if (entry) return { entry, kinds }
        seen.push(entries)
      }
      const served = (await unlisted(id, cache)) ?? (bare === id ? undefined : await unlisted(bare, cache))
      if (served?.kinds.every(reader.allowsKind) && reader.allowsModel(served.entry.id)) return served
      const names = seen.flat().map((one) => one.id)
      const hint = didYouMean(nearest(bare, names)) ?? 'GET /v1/models lists all of them.'
      throw gatewayError('MODEL_NOT_FOUND', { message: `The model "${id}" does not exist. ${hint}` })
    },
    forms: modelLists,
  }
  return listing
}

const LLM: readonly Kind[] = ['llm']
const OTHERS = kinds.filter((kind) => kind !== 'llm')

/** The models without any connection: the catalog's, then the custom ones (src/rules.md, Listing without connections). */
export function* listStatic(
  catalog: Catalog,
  customModels: readonly CustomModel[],
  kinds: readonly Kind[],
): Generator<Listed> {
  for (const [provider, definition] of Object.entries(catalog)) {
    if (!serves(definition, kinds)) continue
    const owner = catalogAliasOf(provider, definition)
    for (const model of definition.models ?? []) {
      if (kinds.includes(kindOf(model))) yield { id: `${owner}/${model.id}`, owner }
    }
  }
  if (kinds.includes('llm')) yield* listCustomModels(customModels)
}

/** The combos of the wanted kinds (default `llm`); only entries of web kinds have a `kind`. */
export function* listCombos(combos: readonly Combo[], kinds: readonly Kind[]): Generator<Listed> {
  for (const { name, kind = 'llm' } of combos) {
    if (!kinds.includes(kind)) continue
    yield { id: name, owner: 'combo', ...((kind === 'webSearch' || kind === 'webFetch') && { kind }) }
  }
}
