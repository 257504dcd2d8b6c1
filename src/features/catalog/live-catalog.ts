import { gatewayError } from '../../errors.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import type { UpstreamFetch } from '../../lib/exchange.ts'
import { createMutex } from '../../lib/promises.ts'
import type { Store } from '../../records/store.ts'
import type { Catalog, Clock, Logger } from '../../types.ts'
import {
  type CatalogState,
  createCatalogCopies,
  hashText,
  KEY_PREFIX,
  type StoredGeneration,
} from './catalog-copies.ts'
import { type Comparison, compareModels, MAX_HELD_CHARACTERS, type ModelLists } from './compare-models.ts'
import { fetchCatalog } from './fetch-catalog.ts'
import type { CatalogChange, CatalogGeneration, CatalogOptions, CatalogReview } from './live-types.ts'
import { RefreshSchedule } from './refresh-schedule.ts'

export interface LiveCatalogDependencies {
  options: CatalogOptions
  /** The catalog that the gateway reads. Applying a copy replaces the catalog's providers. */
  catalog: Catalog
  base: Catalog
  store: Pick<Store, 'storage'>
  clock: Clock
  logger: Logger
  random(): number
  upstream(): UpstreamFetch
  onError(error: unknown): void
}

/** How often to look for another instance's changes in a store without `watch`, in ms. */
const POLL_INTERVAL_MS = 10_000
const MAX_APPLIED_LINES = 100
const MAX_LINE_LENGTH = 200
/** Minimum number of characters to keep from a rejected copy's changes. */
const MIN_REJECTED_CHARACTERS = 10_000
/** Maximum number of unknown models named in an error. */
const MAX_NAMED_MODELS = 5

const REJECTED_COPY_MESSAGE =
  'The gateway rejected the whole copy, so you can\'t accept changes of single models. Omit "models" to accept the copy.'

/** How long the first request waits for the stored copy, in ms. */
const LOAD_TIMEOUT_MS = 1_000

/** Opens the catalog and applies the stored copy if the storage responds in time. If applying it fails, only reports the error. */
export async function openLiveCatalog(deps: LiveCatalogDependencies): Promise<LiveCatalog> {
  const live = new LiveCatalog(deps)
  await settlesWithin(live.load().catch(deps.onError), LOAD_TIMEOUT_MS, deps.clock)
  return live
}

/** Keeps the catalog current: applies the stored copy and refreshes it when due. Its methods run one at a time. */
export class LiveCatalog {
  readonly #deps: LiveCatalogDependencies
  readonly #copies: ReturnType<typeof createCatalogCopies>
  readonly #schedule: RefreshSchedule
  readonly #runExclusive = createMutex()
  readonly #stopWatching: (() => void) | undefined
  /** Hashes of damaged copies that have already been reported. */
  readonly #reportedHashes = new Set<string>()
  #state: CatalogState = { held: [], applied: [] }
  #version: string | null | undefined
  #activeGeneration: StoredGeneration | undefined
  #isStale = true
  #isDamaged = false // or still incomplete, in eventually consistent storage
  #polledAt = Number.NEGATIVE_INFINITY
  #error: string | undefined

  constructor(deps: LiveCatalogDependencies) {
    const { storage } = deps.store
    this.#deps = deps
    this.#copies = createCatalogCopies(storage)
    this.#schedule = new RefreshSchedule({ ...deps, every: deps.options.every, storage })
    this.#stopWatching = storage.watch?.(
      (key) => {
        if (key.startsWith(KEY_PREFIX)) this.#isStale = true
      },
      () => {
        this.#isStale = true
      },
    )
  }

  load(): Promise<void> {
    return this.#runExclusive(() => this.#load())
  }

  /** Called after each request: picks up other instances' changes and refreshes the catalog if a refresh is due. */
  async tick(): Promise<void> {
    if (!this.#mayHaveChanged && !this.#schedule.isDue) return
    await this.#runExclusive(async () => {
      if (this.#mayHaveChanged) await this.#load()
      await this.#schedule.runIfDue(() => this.#tryUpdate())
    })
  }

  /** Doesn't wait for a refresh in progress, which may take a minute. */
  async review(): Promise<CatalogReview> {
    const loading = this.load()
    if (await settlesWithin(loading, LOAD_TIMEOUT_MS, this.#deps.clock)) await loading
    return this.#createReview()
  }

  refresh(): Promise<CatalogReview> {
    return this.#runOnLatestState(async () => {
      await this.#update()
      this.#error = undefined
    })
  }

  accept({ models }: { models?: string[] | undefined }): Promise<CatalogReview> {
    return this.#runOnLatestState(async () => {
      const { rejected } = this.#state
      if (!rejected) return this.#acceptHeld(models)
      if (models) throw gatewayError('INVALID_REQUEST', { message: REJECTED_COPY_MESSAGE })
      return this.#acceptRejected(rejected)
    })
  }

  rollback(): Promise<CatalogReview> {
    return this.#runOnLatestState(async () => {
      const { current, previous, applied } = this.#state
      if (!current) throw gatewayError('INVALID_REQUEST', { message: 'There is no earlier copy of the catalog.' })
      await this.#writeState({
        ...(previous && { current: previous }),
        held: [],
        applied: [`rolled back ${current.version}`, ...applied].slice(0, MAX_APPLIED_LINES),
        ignored: current.sourceSha256,
      })
      await this.#applyFirstComplete(previous)
    })
  }

  close(): void {
    this.#stopWatching?.()
  }

  get #mayHaveChanged(): boolean {
    const { clock, store } = this.#deps
    return store.storage.watch ? this.#isStale : clock.now() - this.#polledAt >= POLL_INTERVAL_MS
  }

  /** Runs an operation on the latest state. */
  #runOnLatestState(operate: () => Promise<void>): Promise<CatalogReview> {
    return this.#runExclusive(async () => {
      await this.#load()
      await operate()
      return this.#createReview()
    })
  }

  #createReview(): CatalogReview {
    const { held, applied, rejected, previous } = this.#state
    return {
      isLive: true,
      ...(this.#activeGeneration && { current: toGeneration(this.#activeGeneration) }),
      ...(previous && { previous: toGeneration(previous) }),
      held: rejected?.held ?? held,
      applied,
      ...(rejected && { rejected: rejected.reason }),
      ...(this.#error !== undefined && { error: this.#error }),
    }
  }

  /** Reads the state and applies its generation. If the copy is damaged, reports it and applies the previous one. */
  async #load(): Promise<void> {
    this.#isStale = false
    this.#polledAt = this.#deps.clock.now()
    const { state, version } = await this.#copies.readState()
    if (version === this.#version && !this.#isDamaged) return
    this.#version = version
    this.#state = state
    await this.#applyFirstComplete(state.current, state.previous)
  }

  /** Applies the first generation whose data is complete. */
  async #applyFirstComplete(...generations: ReadonlyArray<StoredGeneration | undefined>): Promise<void> {
    this.#isDamaged = false
    for (const generation of generations) {
      if (!generation) continue
      if (generation.sha256 === this.#activeGeneration?.sha256) return
      const models = await this.#copies.readModels(generation)
      if (models) {
        this.#apply(models, generation)
        return
      }
      this.#isDamaged = true
      this.#reportDamage(generation)
    }
    this.#apply({}, undefined)
  }

  #reportDamage({ sha256, asOf }: StoredGeneration): void {
    if (this.#reportedHashes.has(sha256)) return
    this.#reportedHashes.add(sha256)
    this.#deps.logger.warn(`The catalog copy of ${asOf} is damaged, so the gateway uses the previous one.`)
  }

  /** Replaces the providers' models. Keeps built-in models that are newer than the copy. */
  #apply(models: ModelLists, generation: StoredGeneration | undefined): void {
    const { base, catalog } = this.#deps
    this.#activeGeneration = generation
    for (const [id, provider] of Object.entries(base)) {
      const copiedModels = Object.hasOwn(models, id) ? models[id] : undefined
      const isOlder = generation && (provider.asOf ?? '') > generation.asOf
      const isReplaced = copiedModels && generation && !isOlder
      const updatedProvider = isReplaced
        ? { ...provider, models: copiedModels, asOf: generation.asOf, isLive: true }
        : provider
      Object.assign(catalog, { [id]: updatedProvider })
    }
  }

  /** Makes this copy the current one. Throws if another instance has written first. */
  async #save(
    models: ModelLists,
    generation: Omit<StoredGeneration, 'sha256' | 'parts' | 'version'>,
    change: Partial<CatalogState>,
  ): Promise<void> {
    const storedData = await this.#copies.writeModels(models)
    const current = { ...generation, ...storedData, version: storedData.sha256.slice(0, 12) }
    const { rejected: _, ...otherState } = this.#state
    const isNewGeneration = otherState.current && otherState.current.sha256 !== current.sha256
    const previous = isNewGeneration ? otherState.current : otherState.previous
    await this.#writeState({ ...otherState, ...change, current, ...(previous && { previous }) })
    await this.#copies.deleteAllExcept([current, previous])
    this.#apply(models, current)
  }

  async #writeState(state: CatalogState): Promise<void> {
    const version = await this.#copies.writeState(state, this.#version ?? null)
    if (version === false)
      throw gatewayError('STORAGE_FAILED', { message: 'Another instance has changed the catalog. Try again.' })
    this.#version = version
    this.#state = state
  }

  /** Returns whether the update succeeded. A failure is logged and kept for `review`. */
  async #tryUpdate(): Promise<boolean> {
    try {
      await this.#update()
      this.#error = undefined
      return true
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error)
      this.#deps.logger.warn(`The catalog was not refreshed: ${this.#error}`)
      return false
    }
  }

  /** Fetches the source and applies it. Applies suspicious changes only if `accepted` is the source's hash. */
  async #update({ accepted: acceptedSha256 }: { accepted?: string } = {}): Promise<void> {
    const { options, clock, upstream, catalog } = this.#deps
    const { rejected, current, ignored } = this.#state
    const etag = rejected ? undefined : current?.etag
    const fetchedCatalog = await fetchCatalog(options.refresh, { fetch: upstream(), clock, etag })
    if (fetchedCatalog === 'unchanged') return
    const {
      providers,
      json,
      source = 'the refresh function',
      asOf = formatDate(clock.now()),
      etag: newEtag,
    } = fetchedCatalog
    const sourceSha256 = await hashText(json)
    const isAcceptedSource = sourceSha256 === acceptedSha256
    if (sourceSha256 === ignored || (!isAcceptedSource && sourceSha256 === current?.sourceSha256))
      return this.#clearRejection()
    const accepts = isAcceptedSource ? () => true : (options.accept ?? (() => false))
    const comparison = compareModels({ ...providers }, { catalog, asOf, accepts })
    if (comparison.rejected !== undefined && !isAcceptedSource) return this.#reject(comparison, sourceSha256)
    this.#warnAboutHeldChanges(comparison.held)
    const appliedAt = new Date(clock.now()).toISOString()
    const generation = { source, asOf, appliedAt, sourceSha256, ...(newEtag !== undefined && { etag: newEtag }) }
    await this.#save(comparison.models, generation, {
      held: comparison.held,
      applied: this.#prependLines(comparison.applied, asOf),
    })
  }

  /** Applies the rejected copy. Throws `INVALID_REQUEST` if the source has changed since then. */
  async #acceptRejected({ sha256 }: { sha256: string }): Promise<void> {
    await this.#update({ accepted: sha256 })
    const { rejected, current } = this.#state
    if (current?.sourceSha256 === sha256) return
    throw gatewayError('INVALID_REQUEST', {
      message:
        rejected && rejected.sha256 !== sha256
          ? `The source has changed since you reviewed it, and the gateway also rejected the new copy: ${rejected.reason} Review it, then accept it.`
          : 'The source no longer has the copy that you reviewed, so the gateway did not apply it.',
    })
  }

  /** Called when the source no longer has the rejected copy. */
  async #clearRejection(): Promise<void> {
    const { rejected, ...otherState } = this.#state
    if (rejected) await this.#writeState(otherState)
  }

  /** Reports and stores the rejection of an entire source, once per source. */
  async #reject({ rejected: reason = '', held }: Comparison, sha256: string): Promise<void> {
    if (this.#state.rejected?.sha256 === sha256) return
    this.#deps.logger.warn(
      `The gateway did not apply a new copy of the catalog: ${reason} Review it: gateway.api.catalog.review().`,
    )
    await this.#writeState({ ...this.#state, rejected: { reason, sha256, held: this.#truncateHeldChanges(held) } })
  }

  /** Returns as many of a rejected copy's changes as fit into a stored value alongside the changes on hold for the copy in use. */
  #truncateHeldChanges(changes: readonly CatalogChange[]): CatalogChange[] {
    let remainingCharacters = Math.max(
      MIN_REJECTED_CHARACTERS,
      MAX_HELD_CHARACTERS - JSON.stringify(this.#state.held).length,
    )
    return changes.filter((change) => {
      remainingCharacters -= JSON.stringify(change).length + 1
      return remainingCharacters > 0
    })
  }

  #warnAboutHeldChanges({ length }: readonly CatalogChange[]): void {
    if (length === 0) return
    this.#deps.logger.warn(`Suspicious changes on hold: ${length}. Review them: gateway.api.catalog.review().`)
  }

  #prependLines(lines: readonly string[], asOf: string): string[] {
    return [...lines.map((line) => `${asOf} ${line}`.slice(0, MAX_LINE_LENGTH)), ...this.#state.applied].slice(
      0,
      MAX_APPLIED_LINES,
    )
  }

  /** Applies the held changes of these models, or all of them if `requestedModels` is absent. */
  async #acceptHeld(requestedModels: readonly string[] | undefined): Promise<void> {
    const { held, current } = this.#state
    requireHeldChanges(requestedModels, held)
    const acceptedChanges = held.filter(({ model }) => !requestedModels || requestedModels.includes(model))
    if (acceptedChanges.length === 0 || !current)
      throw gatewayError('INVALID_REQUEST', { message: 'No changes to the catalog are on hold.' })
    const models = applyChanges((await this.#copies.readModels(current)) ?? {}, acceptedChanges)
    const lines = acceptedChanges.map(({ model, changes }) => `accepted ${model}: ${changes.join(', ')}`)
    await this.#save(models, current, {
      held: held.filter((change) => !acceptedChanges.includes(change)),
      applied: this.#prependLines(lines, current.asOf),
    })
  }
}

/** Throws if any requested model has no held change. */
function requireHeldChanges(
  requestedModels: readonly string[] | undefined,
  heldChanges: readonly CatalogChange[],
): void {
  const unknownModels = requestedModels?.filter((name) => !heldChanges.some(({ model }) => model === name)) ?? []
  if (unknownModels.length === 0) return
  const names = unknownModels.slice(0, MAX_NAMED_MODELS).map((name) => JSON.stringify(name.slice(0, 200)))
  throw gatewayError('INVALID_REQUEST', {
    message: `No change waits for ${names.join(', ')}, so nothing was accepted. GET /api/catalog lists the changes that wait.`,
  })
}

/** Returns the models with the changed prices and limits. A change without a price removes the model's price. */
function applyChanges(models: ModelLists, changes: readonly CatalogChange[]): ModelLists {
  const changesByModel = new Map(changes.map((change) => [change.model, change]))
  return Object.fromEntries(
    Object.entries(models).map(([provider, providerModels]) => [
      provider,
      providerModels.map((model) => {
        const change = changesByModel.get(`${provider}/${model.id}`)
        if (!change) return model
        const { price: _, asOf: __, ...otherFields } = model
        const { model: ___, changes: ____, ...acceptedFields } = change
        return { ...otherFields, ...acceptedFields }
      }),
    ]),
  )
}

const toGeneration = ({ sourceSha256: _, parts: __, ...generation }: StoredGeneration): CatalogGeneration => generation

const formatDate = (time: number) => new Date(time).toISOString().slice(0, 10)
