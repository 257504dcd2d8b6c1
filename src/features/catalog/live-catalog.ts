import { gatewayError } from '../../errors.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import type { UpstreamFetch } from '../../lib/exchange.ts'
import { createMutex } from '../../lib/promises.ts'
import type { Store } from '../../records/store.ts'
import type { Catalog, Clock, Logger } from '../../types.ts'
import { type CatalogState, createCatalogCopies, hash, KEY_PREFIX, type StoredGeneration } from './catalog-copies.ts'
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
const POLL_MS = 10_000
const MAX_APPLIED = 100
const MAX_LINE = 200
/** Minimum number of characters to keep from a rejected copy's changes. */
const MIN_REJECTED_CHARACTERS = 10_000
/** Maximum number of unknown models named in an error. */
const MAX_NAMED = 5

const REJECTED_AS_A_WHOLE =
  'The gateway rejected the whole copy, so you can\'t accept changes of single models. Omit "models" to accept the copy.'

/** How long the first request waits for the stored copy, in ms. */
const LOAD_MS = 1_000

/** Opens the catalog and applies the stored copy if the storage responds in time. If applying it fails, only reports the error. */
export async function openLiveCatalog(deps: LiveCatalogDependencies): Promise<LiveCatalog> {
  const live = new LiveCatalog(deps)
  await settlesWithin(live.load().catch(deps.onError), LOAD_MS, deps.clock)
  return live
}

/** Keeps the catalog current: applies the stored copy and refreshes it when due. Its methods run one at a time. */
export class LiveCatalog {
  readonly #deps: LiveCatalogDependencies
  readonly #copies: ReturnType<typeof createCatalogCopies>
  readonly #schedule: RefreshSchedule
  readonly #runInOrder = createMutex()
  readonly #stopWatching: (() => void) | undefined
  /** Hashes of damaged copies that have already been reported. */
  readonly #reportedHashes = new Set<string>()
  #state: CatalogState = { held: [], applied: [] }
  #version: string | null | undefined
  #inUse: StoredGeneration | undefined
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
    return this.#runInOrder(() => this.#load())
  }

  /** Called after each request: picks up other instances' changes and refreshes the catalog if a refresh is due. */
  async tick(): Promise<void> {
    if (!this.#mayHaveChanged && !this.#schedule.isDue) return
    await this.#runInOrder(async () => {
      if (this.#mayHaveChanged) await this.#load()
      await this.#schedule.runIfDue(() => this.#tryUpdate())
    })
  }

  /** Doesn't wait for a refresh in progress, which may take a minute. */
  async review(): Promise<CatalogReview> {
    const loading = this.load()
    if (await settlesWithin(loading, LOAD_MS, this.#deps.clock)) await loading
    return this.#createReview()
  }

  refresh(): Promise<CatalogReview> {
    return this.#change(async () => {
      await this.#update()
      this.#error = undefined
    })
  }

  accept({ models }: { models?: string[] | undefined }): Promise<CatalogReview> {
    return this.#change(async () => {
      const { rejected } = this.#state
      if (!rejected) return this.#acceptHeld(models)
      if (models) throw gatewayError('INVALID_REQUEST', { message: REJECTED_AS_A_WHOLE })
      return this.#acceptRejected(rejected)
    })
  }

  rollback(): Promise<CatalogReview> {
    return this.#change(async () => {
      const { current, previous, applied } = this.#state
      if (!current) throw gatewayError('INVALID_REQUEST', { message: 'There is no earlier copy of the catalog.' })
      await this.#write({
        ...(previous && { current: previous }),
        held: [],
        applied: [`rolled back ${current.version}`, ...applied].slice(0, MAX_APPLIED),
        ignored: current.sourceSha256,
      })
      await this.#use(previous)
    })
  }

  close(): void {
    this.#stopWatching?.()
  }

  get #mayHaveChanged(): boolean {
    const { clock, store } = this.#deps
    return store.storage.watch ? this.#isStale : clock.now() - this.#polledAt >= POLL_MS
  }

  /** Runs an operation on the latest state. */
  #change(operate: () => Promise<void>): Promise<CatalogReview> {
    return this.#runInOrder(async () => {
      await this.#load()
      await operate()
      return this.#createReview()
    })
  }

  #createReview(): CatalogReview {
    const { held, applied, rejected, previous } = this.#state
    return {
      isLive: true,
      ...(this.#inUse && { current: toGeneration(this.#inUse) }),
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
    await this.#use(state.current, state.previous)
  }

  /** Applies the first generation whose data is complete. */
  async #use(...generations: ReadonlyArray<StoredGeneration | undefined>): Promise<void> {
    this.#isDamaged = false
    for (const generation of generations) {
      if (!generation) continue
      if (generation.sha256 === this.#inUse?.sha256) return
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
    this.#inUse = generation
    for (const [id, provider] of Object.entries(base)) {
      const list = Object.hasOwn(models, id) ? models[id] : undefined
      const isOlder = generation && (provider.asOf ?? '') > generation.asOf
      const isReplaced = list && generation && !isOlder
      const next = isReplaced ? { ...provider, models: list, asOf: generation.asOf, isLive: true } : provider
      Object.assign(catalog, { [id]: next })
    }
  }

  /** Makes this copy the current one. Throws if another instance has written first. */
  async #save(
    models: ModelLists,
    generation: Omit<StoredGeneration, 'sha256' | 'parts' | 'version'>,
    change: Partial<CatalogState>,
  ): Promise<void> {
    const data = await this.#copies.writeModels(models)
    const current = { ...generation, ...data, version: data.sha256.slice(0, 12) }
    const { rejected: _, ...others } = this.#state
    const isNew = others.current && others.current.sha256 !== current.sha256
    const previous = isNew ? others.current : others.previous
    await this.#write({ ...others, ...change, current, ...(previous && { previous }) })
    await this.#copies.deleteOthers([current, previous])
    this.#apply(models, current)
  }

  async #write(next: CatalogState): Promise<void> {
    const version = await this.#copies.writeState(next, this.#version ?? null)
    if (version === false)
      throw gatewayError('STORAGE_FAILED', { message: 'Another instance has changed the catalog. Try again.' })
    this.#version = version
    this.#state = next
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
  async #update({ accepted }: { accepted?: string } = {}): Promise<void> {
    const { options, clock, upstream, catalog } = this.#deps
    const { rejected, current, ignored } = this.#state
    const etag = rejected ? undefined : current?.etag
    const fetched = await fetchCatalog(options.refresh, { fetch: upstream(), clock, etag })
    if (fetched === 'unchanged') return
    const { providers, json, source = 'the refresh function', asOf = formatDate(clock.now()), etag: newEtag } = fetched
    const sourceSha256 = await hash(json)
    const isForced = sourceSha256 === accepted
    if (sourceSha256 === ignored || (!isForced && sourceSha256 === current?.sourceSha256)) return this.#forgetRejected()
    const accepts = isForced ? () => true : (options.accept ?? (() => false))
    const compared = compareModels({ ...providers }, { catalog, asOf, accepts })
    if (compared.rejected !== undefined && !isForced) return this.#reject(compared, sourceSha256)
    this.#warnAboutHeldChanges(compared.held)
    const appliedAt = new Date(clock.now()).toISOString()
    const generation = { source, asOf, appliedAt, sourceSha256, ...(newEtag !== undefined && { etag: newEtag }) }
    await this.#save(compared.models, generation, {
      held: compared.held,
      applied: this.#addLines(compared.applied, asOf),
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
  async #forgetRejected(): Promise<void> {
    const { rejected, ...others } = this.#state
    if (rejected) await this.#write(others)
  }

  /** Reports and stores the rejection of an entire source, once per source. */
  async #reject({ rejected: reason = '', held }: Comparison, sha256: string): Promise<void> {
    if (this.#state.rejected?.sha256 === sha256) return
    this.#deps.logger.warn(
      `The gateway did not apply a new copy of the catalog: ${reason} Review it: gateway.api.catalog.review().`,
    )
    await this.#write({ ...this.#state, rejected: { reason, sha256, held: this.#truncateHeldChanges(held) } })
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

  #addLines(lines: readonly string[], asOf: string): string[] {
    return [...lines.map((line) => `${asOf} ${line}`.slice(0, MAX_LINE)), ...this.#state.applied].slice(0, MAX_APPLIED)
  }

  /** Applies the held changes of these models, or all of them if `requested` is absent. */
  async #acceptHeld(requested: readonly string[] | undefined): Promise<void> {
    const { held, current } = this.#state
    requireHeld(requested, held)
    const accepted = held.filter(({ model }) => !requested || requested.includes(model))
    if (accepted.length === 0 || !current)
      throw gatewayError('INVALID_REQUEST', { message: 'No changes to the catalog are on hold.' })
    const models = applyChanges((await this.#copies.readModels(current)) ?? {}, accepted)
    const lines = accepted.map(({ model, changes }) => `accepted ${model}: ${changes.join(', ')}`)
    await this.#save(models, current, {
      held: held.filter((change) => !accepted.includes(change)),
      applied: this.#addLines(lines, current.asOf),
    })
  }
}

/** Throws if any requested model has no held change. */
function requireHeld(requested: readonly string[] | undefined, heldChanges: readonly CatalogChange[]): void {
  const unknown = requested?.filter((name) => !heldChanges.some(({ model }) => model === name)) ?? []
  if (unknown.length === 0) return
  const names = unknown.slice(0, MAX_NAMED).map((name) => JSON.stringify(name.slice(0, 200)))
  throw gatewayError('INVALID_REQUEST', {
    message: `No change waits for ${names.join(', ')}, so nothing was accepted. GET /api/catalog lists the changes that wait.`,
  })
}

/** Returns the models with the changed prices and limits. A change without a price removes the model's price. */
function applyChanges(models: ModelLists, changes: readonly CatalogChange[]): ModelLists {
  const byName = new Map(changes.map((change) => [change.model, change]))
  return Object.fromEntries(
    Object.entries(models).map(([provider, list]) => [
      provider,
      list.map((model) => {
        const change = byName.get(`${provider}/${model.id}`)
        if (!change) return model
        const { price: _, asOf: __, ...others } = model
        const { model: ___, changes: ____, ...accepted } = change
        return { ...others, ...accepted }
      }),
    ]),
  )
}

const toGeneration = ({ sourceSha256: _, parts: __, ...generation }: StoredGeneration): CatalogGeneration => generation

const formatDate = (time: number) => new Date(time).toISOString().slice(0, 10)
