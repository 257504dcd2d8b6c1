import { promisifyRequest } from 'idb-keyval'
import type { Storage } from '../../../src/index.ts'
import type { Database } from './database.ts'

/** The changes that others have made. */
export interface Feed {
  watch: NonNullable<Storage['watch']>
  /** Must be called in the transaction of each read: watchers that begin later report the changes after it. */
  onRead(changes: IDBObjectStore): Promise<void>
  /** Adds a change to the log, in the transaction that makes it. */
  add(changes: IDBObjectStore, key: string): void
  /** Has the others look at the log. */
  announce(): void
  /** Tells every watcher that any key may have changed. */
  gap(): void
  close(): void
}

/** The time between two looks for changes without a notification: a writer that was killed has sent none. In ms. */
const POLL_MS = 2_000
/** Entries of the log that stay. */
const KEPT = 10_000

/**
 * Reads the log of changes, as soon as another context of the site announces one over a `BroadcastChannel`, when a page that was frozen goes
 * on, and every two seconds.
 */
export function createFeed(name: string, database: Database): Feed {
  const writer = crypto.randomUUID()
  const watchers = new Set<{ onChange(key: string): void; onGap?(): void }>()
  /** The number of the last change that is known here. */
  let position: number | undefined
  let channel: BroadcastChannel | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isLooking = false
  let mustLookAgain = false

  function gap(): void {
    for (const watcher of watchers) watcher.onGap?.()
  }

  function openChannel(): BroadcastChannel | undefined {
    if (channel || typeof BroadcastChannel === 'undefined') return channel // without one, the looks every two seconds remain
    channel = new BroadcastChannel(`signalbox/${name}`)
    channel.onmessage = look
    channel.onmessageerror = look
    return channel
  }

  /** Messages that come during a look lead to one more. */
  function look(): void {
    mustLookAgain = true
    if (isLooking || watchers.size === 0) return
    isLooking = true
    clearTimeout(timer)
    void follow().finally(() => {
      isLooking = false
      if (watchers.size > 0) timer = setTimeout(look, POLL_MS)
    })
  }

  async function follow(): Promise<void> {
    while (mustLookAgain && watchers.size > 0) {
      mustLookAgain = false
      await database.read(({ changes }) => tellOf(changes)).catch(() => {}) // what this one misses, a later one sees
    }
  }

  async function tellOf(changes: IDBObjectStore): Promise<void> {
    if (position === undefined) return onRead(changes)
    const range = IDBKeyRange.lowerBound(position)
    const [numbers, entries] = await Promise.all([
      promisifyRequest<IDBValidKey[]>(changes.getAllKeys(range)),
      promisifyRequest<FeedChange[]>(changes.getAll(range)),
    ])
    const isWhole = position === 0 ? (numbers[0] ?? 1) === 1 : numbers[0] === position
    if (!isWhole) gap()
    const from = position
    const keys = entries.filter((entry, at) => entry.writer !== writer && Number(numbers[at]) > from)
    for (const key of new Set(keys.map((entry) => entry.key))) for (const watcher of watchers) watcher.onChange(key)
    position = Number(numbers.at(-1) ?? position)
  }

  async function onRead(changes: IDBObjectStore): Promise<void> {
    if (watchers.size > 0 && position !== undefined) return
    const last = await lastOf(changes)
    position = watchers.size > 0 && position !== undefined ? Math.min(position, last) : last
  }

  /** A frozen page has heard nothing, and what it serves next must not be stale. */
  function onWake(): void {
    gap()
    look()
  }

  const isPage = 'document' in globalThis

  return {
    watch(onChange, onGap) {
      const watcher = { onChange, ...(onGap && { onGap }) }
      watchers.add(watcher)
      openChannel()
      if (isPage) for (const type of WAKING) addEventListener(type, onWake, true)
      look()
      return () => {
        watchers.delete(watcher)
        if (watchers.size === 0) rest()
      }
    },

    onRead,
    gap,
    announce: () => openChannel()?.postMessage(''),

    add(changes, key) {
      const request = changes.add({ key, writer } satisfies FeedChange)
      request.onsuccess = () => {
        const number = Number(request.result)
        if (number % 100 === 0) changes.delete(IDBKeyRange.upperBound(number - KEPT))
      }
    },

    close() {
      watchers.clear()
      rest()
      channel?.close()
    },
  }

  function rest(): void {
    clearTimeout(timer)
    if (isPage) for (const type of WAKING) removeEventListener(type, onWake, true)
  }
}

interface FeedChange {
  key: string
  writer: string
}

/** What a page hears that was frozen, or kept for the visitor's way back to it. */
const WAKING = ['resume', 'pageshow']

async function lastOf(changes: IDBObjectStore): Promise<number> {
  const cursor = await promisifyRequest<IDBCursor | null>(changes.openKeyCursor(null, 'prev'))
  return Number(cursor?.key ?? 0)
}
