import { retryLostRace } from '../../store/storage-access.ts'
import type { Clock, Storage } from '../../types.ts'
import { decodeRequests, encodeRequests } from './codec.ts'
import {
  batchOf,
  DAY_MS,
  hourOf,
  JOURNAL,
  journalKey,
  journalOf,
  PERIOD_MS,
  type Period,
  requestsKey,
  shardOf,
  type TimeSpan,
  totalsKey,
} from './layout.ts'
import type { Batch, BatchWriter } from './queue.ts'
import { type KeptRequest, timeOfId } from './record.ts'
import { decodeTotals, rowsOfAll, Totals, type TotalsRow } from './totals.ts'

/** How many days usage is kept. */
export interface KeptDays {
  requests: number
  totals: number
}

export interface KeeperOptions {
  storage: Storage
  clock: Clock
  /** The name of this instance in the storage; no other has it. */
  instance: string
  /** How long usage is kept. Rejects when the settings cannot be read. */
  days(): Promise<KeptDays>
  /** The most characters of a value. */
  mostCharacters: number
  onError(error: unknown): void
}

/** Batches are folded when there are so many, or so many requests in them, or the first is so old, in ms. */
const FOLD_BATCHES = 100
const FOLD_REQUESTS = 10_000
const FOLD_MS = 2 * 60 * 1_000
/** The batches of an instance that has not folded them for so long are folded by others, in ms: it was killed. */
const LOST_MS = 10 * 60 * 1_000
/** How often an instance looks for such batches, in ms. */
const LOOK_MS = 5 * 60 * 1_000
/** Values that are read at once. */
const PAGE = 100
/** An instance holds so many batches that are written and not folded. */
const MOST_UNREAD = 4 * FOLD_BATCHES
/** A value of requests is added to until it has so many. */
const MOST_REQUESTS = 250

/** The requests of one batch, some of them where it says so. */
interface ReadBatch {
  number: number
  requests: readonly KeptRequest[]
}

/**
 * Writes batches, and folds them into the requests and sums that are read (layout.ts). Every step may be done again, by any instance and after
 * a crash at any point: a value of sums says through which batch of each instance it has got, and requests are told apart by their ids.
 */
export class Keeper implements BatchWriter {
  readonly #options: KeeperOptions
  /** The keys of the values of requests that have room for more, by shard and hour: `3/1764020000000`. */
  readonly #openValues = new Map<string, string>()
  /** Values whose requests are in newer ones. They are deleted with the next fold: a list that has begun may still come to them. */
  #outdated: string[] = []
  #isClosing = false
  /** The batches of this instance that are not folded yet; absent when there were too many to hold, and they are read again. */
  #unread: ReadBatch[] | undefined = []
  #names = 0
  #unfolded = 0
  #unfoldedRequests = 0
  #firstAt = 0
  #lookedAt = Number.NEGATIVE_INFINITY
  #folding: Promise<void> | undefined = undefined

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  async write({ number, requests }: Pick<Batch, 'number' | 'requests'>): Promise<void> {
    const { storage, clock, instance, days } = this.#options
    const now = clock.now()
    const ttlMs = (await days()).totals * DAY_MS
    await storage.set(journalKey(instance, number), encodeRequests(requests, now), { ttlMs })
    if (this.#unfolded++ === 0) this.#firstAt = now
    this.#unfoldedRequests += requests.length
    this.#unread?.push({ number, requests })
    if (this.#unfolded > MOST_UNREAD) this.#unread = undefined // the storage does not take them
  }

  /** Folds the batches that are due: those of this instance, and those of instances that were killed. Never rejects. */
  tidy(): Promise<void> {
    this.#folding ??= this.#tidy()
      .catch(this.#options.onError)
      .finally(() => {
        this.#folding = undefined
      })
    return this.#folding
  }

  async #tidy(): Promise<void> {
    const now = this.#options.clock.now()
    const areMany = this.#unfolded >= FOLD_BATCHES || this.#unfoldedRequests >= FOLD_REQUESTS
    if (areMany || (this.#unfolded > 0 && Math.abs(now - this.#firstAt) >= FOLD_MS)) await this.#foldOwn()
    if (Math.abs(now - this.#lookedAt) >= LOOK_MS) {
      this.#lookedAt = now
      await this.#foldLost(now)
    }
  }

  /** Folds all batches of this instance. Rejects when the storage cannot be written. */
  async close(): Promise<void> {
    await this.#folding
    this.#isClosing = true
    if (this.#unfolded > 0) await this.#foldOwn()
    await this.#deleteOutdated()
  }

  async #deleteOutdated(): Promise<void> {
    for (const key of this.#outdated.splice(0)) await this.#options.storage.delete(key)
  }

  async #foldOwn(): Promise<void> {
    const { instance, clock } = this.#options
    const before = this.#unfolded // others may be written meanwhile
    const requests = this.#unfoldedRequests
    if (this.#unread) await this.#foldAll(instance, this.#unread.slice(0, before))
    else await this.#fold(instance)
    this.#unfolded -= before
    this.#unfoldedRequests -= requests
    this.#unread = this.#unread?.slice(before) ?? (this.#unfolded === 0 ? [] : undefined)
    this.#firstAt = clock.now()
  }

  async #foldLost(now: number): Promise<void> {
    const { storage, instance: own } = this.#options
    for (let after = JOURNAL; ; ) {
      const [first] = await storage.list(JOURNAL, { after, limit: 1 })
      if (!first) return
      const { instance } = batchOf(first.key)
      const at = decodeRequests(first.value)?.at ?? 0
      if (instance !== own && now - at > LOST_MS) await this.#fold(instance)
      after = `${journalOf(instance)}~`
    }
  }

  /** Folds the batches of an instance, a page after the other. */
  async #fold(instance: string): Promise<void> {
    const { storage } = this.#options
    for (let after = journalOf(instance); ; ) {
      const page = await storage.list(journalOf(instance), { after, limit: PAGE })
      const last = page.at(-1)
      if (!last) return
      const batches = page.map(({ key, value }) => ({ number: batchOf(key).number, requests: this.#read(key, value) }))
      await this.#foldAll(instance, batches)
      if (page.length < PAGE) return
      after = last.key
    }
  }

  async #foldAll(instance: string, batches: readonly ReadBatch[]): Promise<void> {
    await this.#foldBatches(instance, batches)
    const { storage } = this.#options
    await Promise.all(batches.map(({ number }) => storage.delete(journalKey(instance, number)))) // the file store makes one commit of it
  }

  #read(key: string, value: string): readonly KeptRequest[] {
    const read = decodeRequests(value)
    if (!read) this.#options.onError(new Error(`The usage under "${key}" is damaged, and is left out.`))
    return read?.requests ?? []
  }

  async #foldBatches(instance: string, batches: readonly ReadBatch[]): Promise<void> {
    const keptDays = await this.#options.days()
    await this.#deleteOutdated()
    const byShard = groupsOf(batches, ({ keyId }) => shardOf(keyId))
    await Promise.all(
      [...byShard].map(async ([shard, own]) => {
        const byHour = groupsOf(own, ({ id }) => hourOf(id))
        const rowsOfDays = new Map<number, TotalsRow[]>()
        for (const [hour, some] of byHour) {
          const requests = some.flatMap((batch) => batch.requests)
          const rows = rowsOfAll(requests)
          const day = Math.floor(hour / DAY_MS) * DAY_MS
          rowsOfDays.set(day, [...(rowsOfDays.get(day) ?? []), ...rows])
          await this.#keepRequests(shard, hour, requests, keptDays.requests)
          await this.#keepTotals({ period: 'hour', shard, at: hour, instance, days: keptDays.totals }, some, rows)
        }
        for (const [day, some] of groupsOf(own, ({ id }) => Math.floor(timeOfId(id) / DAY_MS) * DAY_MS))
          await this.#keepTotals(
            { period: 'day', shard, at: day, instance, days: keptDays.totals },
            some,
            rowsOfDays.get(day) ?? [],
          )
      }),
    )
    const [newest = 0] = [...this.#openValues.keys()].map((name) => Number(name.slice(2))).sort((a, b) => b - a)
    for (const name of this.#openValues.keys())
      if (Number(name.slice(2)) < newest - PERIOD_MS.hour) this.#openValues.delete(name)
  }

  /** Writes requests of one hour, into the last value of this instance too where it has room. */
  async #keepRequests(shard: string, hour: number, requests: readonly KeptRequest[], days: number): Promise<void> {
    const { storage, clock, instance } = this.#options
    const name = `${shard}/${hour}`
    const open = this.#isClosing ? undefined : this.#openValues.get(name)
    const old = open === undefined ? undefined : await storage.get(open)
    const before = (old && decodeRequests(old.value)?.requests) ?? []
    const all = distinct([...before, ...requests])
    for (let at = 0; at < all.length; at += MOST_REQUESTS)
      for (const part of this.#parts(all.slice(at, at + MOST_REQUESTS))) {
        const ttlMs = part.span.last + days * DAY_MS - clock.now()
        if (ttlMs < 1) continue // they are older than they are kept
        const key = requestsKey(shard, part.span, `${instance}-${++this.#names}`)
        await storage.set(key, part.text, { ttlMs: Math.min(ttlMs, MOST_TTL_MS) })
        if (part.count < MOST_REQUESTS && part.text.length < this.#options.mostCharacters / 2)
          this.#openValues.set(name, key)
        else this.#openValues.delete(name)
      }
    if (open !== undefined && old) this.#outdated.push(open)
  }

  /** Values for requests, each within the size that a value may have. */
  #parts(requests: readonly KeptRequest[]): Array<{ text: string; span: TimeSpan; count: number }> {
    const text = encodeRequests(requests, this.#options.clock.now())
    const half = requests.length >> 1
    if (text.length > this.#options.mostCharacters && half > 0)
      return [...this.#parts(requests.slice(0, half)), ...this.#parts(requests.slice(half))]
    const times = requests.map(({ id }) => timeOfId(id))
    return [{ text, count: requests.length, span: { first: Math.min(...times), last: Math.max(...times) } }]
  }

  /** Adds the requests of batches to the sums of a period, unless they are in there. `rows`: the sums of all these batches. */
  async #keepTotals(
    {
      period,
      shard,
      at,
      instance,
      days,
    }: { period: Period; shard: string; at: number; instance: string; days: number },
    batches: readonly ReadBatch[],
    rows: readonly TotalsRow[],
  ): Promise<void> {
    const { storage, clock, mostCharacters } = this.#options
    const ttlMs = Math.min(at + PERIOD_MS[period] + days * DAY_MS - clock.now(), MOST_TTL_MS)
    if (ttlMs < 1) return
    const plain = totalsKey(period, shard, at)
    const key = storage.atomic ? plain : `${plain}/${instance}` // without conditional writes each instance has its own
    await retryLostRace(async () => {
      const stored = await storage.get(key)
      const totals = stored ? this.#readTotals(key, stored.value) : new Totals()
      const done = totals.through[instance] ?? 0
      const due = batches.filter(({ number }) => number > done)
      const last = due.at(-1)
      if (!last) return true
      const added = due.length === batches.length ? rows : rowsOfAll(due.flatMap(({ requests }) => requests))
      for (const row of added) totals.add(totals.fitted(row))
      totals.through[instance] = last.number
      return storage.set(key, totals.encode(mostCharacters), { ifVersion: stored?.version ?? null, ttlMs })
    })
  }

  #readTotals(key: string, value: string): Totals {
    const read = decodeTotals(value)
    if (!read) this.#options.onError(new Error(`The sums of usage under "${key}" are damaged, and begin anew.`))
    return read ?? new Totals()
  }
}

/** The longest time that a storage takes, in ms. */
const MOST_TTL_MS = 1e12

/** Batches with those of their requests that belong to each group; batches without any are left out. */
function groupsOf<G>(batches: readonly ReadBatch[], groupOf: (request: KeptRequest) => G): Map<G, ReadBatch[]> {
  const groups = new Map<G, Array<{ number: number; requests: KeptRequest[] }>>()
  for (const { number, requests } of batches)
    for (const request of requests) {
      const group = groupOf(request)
      const own = groups.get(group) ?? []
      if (own.length === 0) groups.set(group, own)
      const last = own.at(-1)
      if (last?.number === number) last.requests.push(request)
      else own.push({ number, requests: [request] })
    }
  return groups
}

/** The newest first, each id once. */
function distinct(requests: readonly KeptRequest[]): KeptRequest[] {
  const byId = new Map(requests.map((request) => [request.id, request]))
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
}
