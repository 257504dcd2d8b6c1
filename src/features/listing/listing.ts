import { gatewayError } from '../../errors.ts'
import type { UpstreamFetch } from '../../lib/exchange.ts'
import { didYouMean, findNearest } from '../../lib/spelling.ts'
import { NAME_PREFIX } from '../../protocols/formats/gemini/client/gemini-client-models.ts'
import { modelListFormats } from '../../protocols/formats/model-lists.ts'
import { sortActiveConnections } from '../../protocols/providers/provider-connections.ts'
import { getCatalogAlias, getDefinition, getProviderNames } from '../../protocols/providers/provider-names.ts'
import type { ProviderTarget } from '../../protocols/providers/target.ts'
import type { AliasRecord, ConnectionRecord, Store } from '../../records/store.ts'
import { kinds } from '../../types/unions.ts'
import type { Catalog, Clock, Combo, CustomModel, Kind, ModelEntry } from '../../types.ts'
import { listConnections } from './connection-path.ts'
import { createKindLookup, getKind, type ListedModel, listCustomModels, servesKinds, toEntries } from './entries.ts'
import { cacheLookup, createLookup, type LookupCache } from './model-lookup.ts'

export interface ListingDependencies {
  store: {
    connections: RecordReader<ConnectionRecord>
    combos: RecordReader<Combo>
    customModels: RecordReader<CustomModel>
    aliases: RecordReader<AliasRecord>
    keyring: Store['keyring']
    code: Store['code']
  }
  catalog: Catalog
  clock: Clock
  /** Gets the failures that the listing tolerates, such as records that can't be loaded and upstreams that don't list any models. */
  onError(error: unknown): void
  /**
   * Finds a model name's targets, by priority. Returns an empty list for a combo and `undefined` for a name that doesn't resolve. Default: only
   * listed names have targets.
   */
  findTargets?: ((model: string) => Promise<Targets | undefined>) | undefined
  /** Timeout of an upstream's model list, including its body, in ms. Default: 5,000. */
  lookupTimeoutMs?: number | undefined
}

interface RecordReader<T> {
  all(): Promise<readonly T[]>
}

type Targets = ReadonlyArray<Pick<ProviderTarget<ConnectionRecord>, 'connection' | 'model'>>

/** Lists the gateway's models. */
export interface Listing {
  /**
   * Lists the models of these kinds that `reader` may use. Nothing is cached between calls. Queries compatible providers through `fetch`, but each
   * one only once for all lists that share `cache`.
   */
  list(
    kinds: readonly Kind[],
    fetch: UpstreamFetch,
    options?: { reader?: ListReader; cache?: LookupCache },
  ): Promise<ModelEntry[]>
  /**
   * Finds a model by ID, with or without Google's `models/` prefix. Returns the kinds that it is listed under: `llm`, or all others. For a model that
   * works but isn't listed, returns the model's own kind. Rejects with `MODEL_NOT_FOUND` and suggests similar names, even if the model exists but
   * `reader` may not use it.
   */
  find(id: string, fetch: UpstreamFetch, reader?: ListReader): Promise<FoundModel>
  /** The list format for each client format. */
  listFormats: typeof modelListFormats
}

/** Which models a client may use. */
export interface ListReader {
  allowsKind(kind: Kind): boolean
  /** Returns whether the client may use the model, combo, or alias with this name. */
  allowsModel(model: string): boolean
}

const UNRESTRICTED: ListReader = { allowsKind: () => true, allowsModel: () => true }

interface FoundModel {
  entry: ModelEntry
  kinds: readonly Kind[]
}

/** Creates the listing (src/rules.md, Listing: what is loaded, and in which order). */
export function createListing({
  store,
  catalog,
  clock,
  onError,
  findTargets = async () => undefined,
  lookupTimeoutMs = 5_000,
}: ListingDependencies): Listing {
  /** Loads records. If that fails, reports the error and continues without the records. */
  async function loadRecords<T>(records: RecordReader<T>): Promise<readonly T[]> {
    try {
      return await records.all()
    } catch (error) {
      onError(error)
      return []
    }
  }

  /**
   * Finds a name that isn't listed but has a target, such as a model that only the provider's second connection has. Returns `undefined` if all
   * targets' servers have just listed their models without this one.
   */
  async function findUnlisted(id: string, cache: LookupCache): Promise<FoundModel | undefined> {
    const targets = await findTargets(id).catch(onError)
    if (!targets) return undefined
    const lookups = await Promise.all(targets.map(({ connection }) => cache.get(connection.id)))
    const [firstTarget] = targets
    if (firstTarget && lookups.every((ids) => ids?.length)) return undefined
    const names = firstTarget && getProviderNames(catalog, firstTarget.connection)
    const models = firstTarget && getDefinition(catalog, firstTarget.connection.provider)?.models
    const kind = firstTarget && names ? createKindLookup(models ?? [], names)(firstTarget.model) : 'llm'
    const [entry] = toEntries([{ id, owner: names?.output ?? 'combo' }], Math.floor(clock.now() / 1_000))
    return entry && { entry, kinds: [kind] }
  }

  const listing: Listing = {
    async list(requestedKinds, fetch, { reader = UNRESTRICTED, cache = new Map() } = {}) {
      const kinds = requestedKinds.filter(reader.allowsKind)
      const createdSeconds = Math.floor(clock.now() / 1_000)
      const [stored, combos, customModels, aliases] = await Promise.all([
        loadRecords(store.connections),
        loadRecords(store.combos),
        loadRecords(store.customModels),
        loadRecords(store.aliases),
      ])
      const connections = sortActiveConnections(stored)
      const lookup = cacheLookup(createLookup({ store, clock, timeoutMs: lookupTimeoutMs, onError }, fetch), cache)
      const models =
        connections.length === 0
          ? listStatic(catalog, customModels, kinds)
          : await listConnections({ catalog, connections, customModels, aliases }, kinds, lookup)
      const entries = toEntries([...listCombos(combos, kinds), ...models], createdSeconds)
      return entries.filter(({ id }) => reader.allowsModel(id))
    },
    async find(id, fetch, reader = UNRESTRICTED) {
      const cache: LookupCache = new Map() // so both lists wait only once for a slow upstream
      const bareId = id.startsWith(NAME_PREFIX) ? id.slice(NAME_PREFIX.length) : id
      const lists: ModelEntry[][] = []
      for (const kinds of [LLM_KINDS, OTHER_KINDS]) {
        const entries = await listing.list(kinds, fetch, { reader, cache })
        const entry = entries.find((entry) => entry.id === id) ?? entries.find((entry) => entry.id === bareId)
        if (entry) return { entry, kinds }
        lists.push(entries)
      }
      const unlistedModel =
        (await findUnlisted(id, cache)) ?? (bareId === id ? undefined : await findUnlisted(bareId, cache))
      if (unlistedModel?.kinds.every(reader.allowsKind) && reader.allowsModel(unlistedModel.entry.id))
        return unlistedModel
      const names = lists.flat().map((entry) => entry.id)
      const hint = didYouMean(findNearest(bareId, names)) ?? 'GET /v1/models lists the available models.'
      throw gatewayError('MODEL_NOT_FOUND', { message: `The model "${id}" does not exist. ${hint}` })
    },
    listFormats: modelListFormats,
  }
  return listing
}

const LLM_KINDS: readonly Kind[] = ['llm']
const OTHER_KINDS = kinds.filter((kind) => kind !== 'llm')

/** Lists the catalog's models, followed by custom models (src/rules.md, Listing without connections). */
export function* listStatic(
  catalog: Catalog,
  customModels: readonly CustomModel[],
  kinds: readonly Kind[],
): Generator<ListedModel> {
  for (const [provider, definition] of Object.entries(catalog)) {
    if (!servesKinds(definition, kinds)) continue
    const owner = getCatalogAlias(provider, definition)
    for (const model of definition.models ?? []) {
      if (kinds.includes(getKind(model))) yield { id: `${owner}/${model.id}`, owner }
    }
  }
  if (kinds.includes('llm')) yield* listCustomModels(customModels)
}

/** Lists the combos of these kinds (default `llm`). Only entries of web kinds have a `kind`. */
export function* listCombos(combos: readonly Combo[], kinds: readonly Kind[]): Generator<ListedModel> {
  for (const { name, kind = 'llm' } of combos) {
    if (!kinds.includes(kind)) continue
    yield { id: name, owner: 'combo', ...((kind === 'webSearch' || kind === 'webFetch') && { kind }) }
  }
}
