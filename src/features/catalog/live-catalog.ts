import { gatewayError } from '../../errors.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import type { UpstreamFetch } from '../../lib/exchange.ts'
import { isObject, tryParseJson } from '../../lib/json.ts'
import { createMutex } from '../../lib/promises.ts'
import type { Store } from '../../records/store.ts'
import type { Catalog, Clock, Logger } from '../../types.ts'
import { type CatalogState, createCatalogCopies, hash, PREFIX, type StoredGeneration } from './catalog-copies.ts'
import { compareModels, type ModelLists } from './compare-models.ts'
import { fetchCatalog } from './fetch-catalog.ts'
import type { CatalogGeneration, CatalogOptions, CatalogReview } from './live-types.ts'

export interface LiveCatalogDependencies {
  options: CatalogOptions
  /** The catalog that the gateway reads. Its providers are replaced when a copy applies. */
  catalog: Catalog
  base: Catalog
  store: Pick<Store, 'storage'>
  clock: Clock
  logger: Logger
  random(): number
  upstream(): UpstreamFetch
  onError(error: unknown): void
}

/** How long the instance that refreshes keeps others from doing so, in ms. */
const LEASE_MS = 60_000
/** How often to look for another instance's changes in a storage without `watch`, in ms. */
const POLL_MS = 10_000
const FIRST_RETRY_MS = 5 * 60_000
const DAY_MS = 24 * 60 * 60_000
const LEASE = `${PREFIX}lease`
const MAX_APPLIED = 100
/** How many unknown models an error names. */
const MAX_NAMED = 5

export type LiveCatalog = ReturnType<typeof createLiveCatalog>

/** How long the first request waits for the stored copy, in ms. */
const LOAD_MS = 1_000

/** Opens the catalog, and applies the stored copy if the storage responds in time. A failure is only reported. */
export async function openLiveCatalog(deps: LiveCatalogDependencies): Promise<LiveCatalog> {
  const live = createLiveCatalog(deps)
  await settlesWithin(live.load().catch(deps.onError), LOAD_MS, deps.clock)
  return live
}

/** Keeps the catalog current: applies the stored copy, and refreshes it when it is due. */
function createLiveCatalog(deps: LiveCatalogDependencies) {
  const { options, catalog, base, store, clock, logger, random, upstream } = deps
  const { storage } = store
  const copies = createCatalogCopies(storage)
  const runInOrder = createMutex()
  const everyMs = parsePeriod(options.every)
  let state: CatalogState = { held: [], applied: [] }
  let version: string | null | undefined
  let inUse: StoredGeneration | undefined
  let isStale = true
  let isDamaged = false // or not yet complete, in a storage that is eventually consistent
  const warned = new Set<string>()
  let dueAt = 0
  let polledAt = Number.NEGATIVE_INFINITY
  let error: string | undefined
  const stopWatching = storage.watch?.(
    (key) => {
      if (key.startsWith(PREFIX)) isStale = true
    },
    () => {
      isStale = true
    },
  )

  /** Reads the state, and applies the generation in it. A damaged copy is reported, and the previous one applies. */
  async function load(): Promise<void> {
    isStale = false
    polledAt = clock.now()
    const read = await copies.readState()
    if (read.version === version && !isDamaged) return
    version = read.version
    state = read.state
    await use(state.current, state.previous)
  }

  async function use(...generations: ReadonlyArray<StoredGeneration | undefined>): Promise<void> {
    isDamaged = false
    for (const generation of generations) {
      if (!generation) continue
      if (generation.sha256 === inUse?.sha256) return
      const models = await copies.readModels(generation)
      if (models) {
        apply(models, generation)
        return
      }
      isDamaged = true
      if (warned.has(generation.sha256)) continue
      warned.add(generation.sha256)
      logger.warn(`The catalog copy of ${generation.asOf} is damaged, so the gateway uses the previous one.`)
    }
    apply({}, undefined)
  }

  /** Replaces the providers' models. Built-in models that are newer than the copy stay. */
  function apply(models: ModelLists, generation: StoredGeneration | undefined): void {
    inUse = generation
    for (const [id, provider] of Object.entries(base)) {
      const list = Object.hasOwn(models, id) ? models[id] : undefined
      const isOlder = generation && (provider.asOf ?? '') > generation.asOf
      const isReplaced = list && generation && !isOlder
      const next = isReplaced ? { ...provider, models: list, asOf: generation.asOf, isLive: true } : provider
      Object.assign(catalog, { [id]: next })
    }
  }

  /** Makes this copy the current one. Another instance's write wins. */
  async function save(
    models: ModelLists,
    generation: Omit<StoredGeneration, 'sha256' | 'parts' | 'version'>,
    change: Partial<CatalogState>,
  ) {
    const data = await copies.writeModels(models)
    const current = { ...generation, ...data, version: data.sha256.slice(0, 12) }
    const { rejected: _, ...others } = state
    const previous = state.current && state.current.sha256 !== current.sha256 ? state.current : state.previous
    await write({ ...others, ...change, current, ...(previous && { previous }) })
    await copies.deleteOthers([state.current, state.previous])
    apply(models, state.current)
  }

  async function write(next: CatalogState): Promise<void> {
    const written = await copies.writeState(next, version ?? null)
    if (written === false)
      throw gatewayError('STORAGE_FAILED', { message: 'Another instance has changed the catalog. Try again.' })
    version = written
    state = next
  }

  async function update({ isForced = false } = {}): Promise<void> {
    const etag = isForced || state.rejected ? undefined : state.current?.etag
    const fetched = await fetchCatalog(options.refresh, { fetch: upstream(), clock, etag })
    if (fetched === 'unchanged') return
    const { providers, json, source = 'the refresh function', asOf = formatDate(clock.now()), etag: newEtag } = fetched
    const sourceSha256 = await hash(json)
    if (sourceSha256 === state.ignored || (!isForced && sourceSha256 === state.current?.sourceSha256)) return
    const accepts = isForced ? () => true : (options.accept ?? (() => false))
    const { models, held, applied, rejected } = compareModels({ ...providers }, { catalog, asOf, accepts })
    if (rejected !== undefined && !isForced) {
      if (state.rejected?.sha256 === sourceSha256) return
      logger.warn(
        `The gateway did not apply a new copy of the catalog: ${rejected} Review it: gateway.api.catalog.review().`,
      )
      await write({ ...state, rejected: { reason: rejected, sha256: sourceSha256 } })
      return
    }
    if (held.length > 0)
      logger.warn(`Suspicious price changes on hold: ${held.length}. Review them: gateway.api.catalog.review().`)
    const time = new Date(clock.now()).toISOString()
    const generation = { source, asOf, appliedAt: time, sourceSha256, ...(newEtag !== undefined && { etag: newEtag }) }
    await save(models, generation, { held, applied: addLines(applied, asOf) })
  }

  const addLines = (lines: readonly string[], asOf: string) =>
    [...lines.map((line) => `${asOf} ${line}`), ...state.applied].slice(0, MAX_APPLIED)

  /** Refreshes if it is due and no other instance is doing so. */
  async function refreshIfDue(): Promise<void> {
    if (clock.now() < dueAt) return
    const stored = await storage.get(LEASE)
    const lease = readLease(stored?.value)
    dueAt = lease.nextAt
    if (clock.now() < dueAt) return
    const taken = await storage.set(LEASE, JSON.stringify({ ...lease, nextAt: clock.now() + LEASE_MS }), {
      ifVersion: stored?.version ?? null,
    })
    dueAt = clock.now() + LEASE_MS
    if (taken === false) return
    let failures = 0
    try {
      await update()
      error = undefined
    } catch (thrown) {
      failures = lease.failures + 1
      error = thrown instanceof Error ? thrown.message : String(thrown)
      logger.warn(`The catalog was not refreshed: ${error}`)
    }
    const waitMs =
      failures > 0 ? Math.min(DAY_MS, FIRST_RETRY_MS * 2 ** (failures - 1)) : everyMs * (0.95 + 0.1 * random())
    dueAt = clock.now() + waitMs
    await storage.set(LEASE, JSON.stringify({ nextAt: dueAt, failures }), { ifVersion: taken })
  }

  const review = (): CatalogReview => {
    const { held, applied, rejected, previous } = state
    return {
      isLive: true,
      ...(inUse && { current: toGeneration(inUse) }),
      ...(previous && { previous: toGeneration(previous) }),
      ...{ held, applied },
      ...(rejected && { rejected: rejected.reason }),
      ...(error !== undefined && { error }),
    }
  }

  return {
    load: () => runInOrder(load),

    /** Called after each request: sees other instances' changes, and refreshes if it is due. */
    async tick(): Promise<void> {
      const isPolled = storage.watch ? isStale : clock.now() - polledAt >= POLL_MS
      if (!isPolled && clock.now() < dueAt) return
      await runInOrder(async () => {
        if (storage.watch ? isStale : clock.now() - polledAt >= POLL_MS) await load()
        await refreshIfDue()
      })
    },

    /** Doesn't wait for a refresh, which may take a minute. */
    async review() {
      const loading = runInOrder(load)
      if (await settlesWithin(loading, LOAD_MS, clock)) await loading
      return review()
    },

    refresh: () =>
      runInOrder(async () => {
        await load()
        await update()
        error = undefined
        return review()
      }),

    accept: ({ models: wanted }: { models?: string[] | undefined }) =>
      runInOrder(async () => {
        await load()
        if (state.rejected && !wanted) {
          await update({ isForced: true })
          return review()
        }
        const unknown = wanted?.filter((name) => !state.held.some(({ model }) => model === name)) ?? []
        if (unknown.length > 0)
          throw gatewayError('INVALID_REQUEST', {
            message: `No change waits for ${unknown
              .slice(0, MAX_NAMED)
              .map((name) => JSON.stringify(name.slice(0, 200)))
              .join(', ')}, so nothing was accepted. GET /api/catalog lists the changes that wait.`,
          })
        const accepted = state.held.filter(({ model }) => !wanted || wanted.includes(model))
        const { current } = state
        if (accepted.length === 0 || !current)
          throw gatewayError('INVALID_REQUEST', { message: 'No changes to the catalog are on hold.' })
        const prices = new Map(accepted.map(({ model, price }) => [model, price]))
        const stored = await copies.readModels(current)
        const models = Object.fromEntries(
          Object.entries(stored ?? {}).map(([provider, list]) => [
            provider,
            list.map((model) => {
              if (!prices.has(`${provider}/${model.id}`)) return model
              const { price: _, asOf: __, ...others } = model
              const price = prices.get(`${provider}/${model.id}`)
              return price ? { ...others, price } : others
            }),
          ]),
        )
        const lines = accepted.map(({ model, changes }) => `accepted ${model}: ${changes.join(', ')}`)
        const held = state.held.filter((change) => !accepted.includes(change))
        await save(models, current, { held, applied: addLines(lines, current.asOf) })
        return review()
      }),

    rollback: () =>
      runInOrder(async () => {
        await load()
        const { current, previous, applied } = state
        if (!current) throw gatewayError('INVALID_REQUEST', { message: 'There is no earlier copy of the catalog.' })
        await write({
          ...(previous && { current: previous }),
          held: [],
          applied: [`rolled back ${current.version}`, ...applied].slice(0, MAX_APPLIED),
          ignored: current.sourceSha256,
        })
        await use(previous)
        return review()
      }),

    close: () => stopWatching?.(),
  }
}

const toGeneration = ({ sourceSha256: _, parts: __, ...generation }: StoredGeneration): CatalogGeneration => generation

const formatDate = (time: number) => new Date(time).toISOString().slice(0, 10)

function readLease(value: string | undefined): { nextAt: number; failures: number } {
  const lease = value === undefined ? undefined : tryParseJson(value)
  const { nextAt, failures } = isObject(lease) ? lease : {}
  return { nextAt: typeof nextAt === 'number' ? nextAt : 0, failures: typeof failures === 'number' ? failures : 0 }
}

/** Parses `1d` and `12h`, to ms. */
function parsePeriod(every = '1d'): number {
  const [, count, unit] = /^(\d+)([dh])$/.exec(every) ?? []
  return Number(count) * (unit === 'h' ? DAY_MS / 24 : DAY_MS)
}
