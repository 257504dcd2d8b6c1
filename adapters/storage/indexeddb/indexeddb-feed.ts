import { promisifyRequest } from 'idb-keyval'
import type { Storage } from '../../../src/index.ts'
import type { Database } from './database.ts'

/** Changes made by the site's other contexts. */
export interface Feed {
  watch: NonNullable<Storage['watch']>
  /** Must be called in each read's transaction, so watchers added later report the changes that follow the read. */
  onRead(changes: IDBObjectStore): Promise<void>
  /** Adds a change to the log, in the transaction that makes it. */
  add(changes: IDBObjectStore, key: string): void
  /** Notifies the other contexts that the log has new entries. */
  announce(): void
  /** Reports to every watcher that any key may have changed. */
  reportGap(): void
  close(): void
}

/** How often to check for changes without a notification, in ms, because a writer that is killed sends none. */
const POLL_MS = 2_000
/** The number of log entries to keep. */
const MAX_LOG_ENTRIES = 10_000

/**
 * Reads the change log as soon as another of the site's contexts announces a change over a `BroadcastChannel`, when a frozen page resumes, and every
 * two seconds.
 */
export function createFeed(name: string, database: Database): Feed {
  const writer = crypto.randomUUID()
  const watchers = new Set<{ onChange(key: string): void; onGap?(): void }>()
  /** The number of the last known change. */
  let position: number | undefined
  let channel: BroadcastChannel | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isChecking = false
  let mustCheckAgain = false

  function reportGap(): void {
    for (const watcher of watchers) watcher.onGap?.()
  }

  function openChannel(): BroadcastChannel | undefined {
    if (channel || typeof BroadcastChannel === 'undefined') return channel // without a channel, only the two-second checks remain
    channel = new BroadcastChannel(`signalbox/${name}`)
    channel.onmessage = checkLog
    channel.onmessageerror = checkLog
    return channel
  }

  /** Checks the log. Messages that arrive during a check trigger another check. */
  function checkLog(): void {
    mustCheckAgain = true
    if (isChecking || watchers.size === 0) return
    isChecking = true
    clearTimeout(timer)
    void follow().finally(() => {
      isChecking = false
      if (watchers.size > 0) timer = setTimeout(checkLog, POLL_MS)
    })
  }

  async function follow(): Promise<void> {
    while (mustCheckAgain && watchers.size > 0) {
      mustCheckAgain = false
      await database.read(({ changes }) => reportChanges(changes)).catch(() => {}) // a later check finds the changes that this check misses
    }
  }

  async function reportChanges(changes: IDBObjectStore): Promise<void> {
    if (position === undefined) return onRead(changes)
    const range = IDBKeyRange.lowerBound(position)
    const [numbers, entries] = await Promise.all([
      promisifyRequest<IDBValidKey[]>(changes.getAllKeys(range)),
      promisifyRequest<FeedChange[]>(changes.getAll(range)),
    ])
    const isWhole = position === 0 ? (numbers[0] ?? 1) === 1 : numbers[0] === position
    if (!isWhole) reportGap()
    const from = position
    const keys = entries.filter((entry, index) => entry.writer !== writer && Number(numbers[index]) > from)
    for (const key of new Set(keys.map((entry) => entry.key))) for (const watcher of watchers) watcher.onChange(key)
    position = Number(numbers.at(-1) ?? position)
  }

  async function onRead(changes: IDBObjectStore): Promise<void> {
    if (watchers.size > 0 && position !== undefined) return
    const last = await readLastNumber(changes)
    position = watchers.size > 0 && position !== undefined ? Math.min(position, last) : last
  }

  /** Handles a frozen page that resumes. It received no messages while it was frozen, and must not serve stale data. */
  function onResume(): void {
    reportGap()
    checkLog()
  }

  const isPage = 'document' in globalThis

  return {
    watch(onChange, onGap) {
      const watcher = { onChange, ...(onGap && { onGap }) }
      watchers.add(watcher)
      openChannel()
      if (isPage) for (const type of RESUME_EVENTS) addEventListener(type, onResume, true)
      checkLog()
      return () => {
        watchers.delete(watcher)
        if (watchers.size === 0) stopPolling()
      }
    },

    onRead,
    reportGap,
    announce: () => openChannel()?.postMessage(''),

    add(changes, key) {
      const request = changes.add({ key, writer } satisfies FeedChange)
      request.onsuccess = () => {
        const number = Number(request.result)
        if (number % 100 === 0) changes.delete(IDBKeyRange.upperBound(number - MAX_LOG_ENTRIES))
      }
    },

    close() {
      watchers.clear()
      stopPolling()
      channel?.close()
    },
  }

  function stopPolling(): void {
    clearTimeout(timer)
    if (isPage) for (const type of RESUME_EVENTS) removeEventListener(type, onResume, true)
  }
}

interface FeedChange {
  key: string
  writer: string
}

/** Events that a page receives after it was frozen, or cached for the back button. */
const RESUME_EVENTS = ['resume', 'pageshow']

async function readLastNumber(changes: IDBObjectStore): Promise<number> {
  const cursor = await promisifyRequest<IDBCursor | null>(changes.openKeyCursor(null, 'prev'))
  return Number(cursor?.key ?? 0)
}
