import { fromOrdered } from '../lib/ordered-text.ts'
import { sleep } from '../lib/wait.ts'
import { type Command, type Link, noop, withTimeout } from './redis-client.ts'

/** A feed's source and listeners. */
export interface FeedOptions {
  link: Link
  /** Whether to use the link directly and never close it. Otherwise, the feed creates its own connections from it. */
  isReady: boolean
  /** The key names, and the writer whose changes aren't reported at the start. */
  records: { index: string; stream: string; writer: string }
  /** Returns whether the store responds on its other connection. */
  isReachable(): boolean
  onChange(key: string): void
  onGap(): void
}

/** How long one command waits for the next change, in ms; its reply and a new connection may take longer. */
const BLOCK_MS = 1_000
const REPLY_TIMEOUT_MS = 1_500
const CONNECT_MS = 1_000
/** The pause before reconnecting, in ms. */
const PAUSE_MS = 100
/** The time between two calls to `onGap`, in ms, while the feed is disconnected although the store responds on its other connection. */
const GAP_INTERVAL_MS = 1_000
/** How long to wait for the first connection, in ms. After that, the feed assumes that every key has changed. */
const START_TIMEOUT_MS = 5_000

/**
 * Reports the changes in the stream from now on. Returns the function that stops it. Each read starts with the last entry that was read. If that
 * entry is missing, the stream was trimmed, emptied, or restored, and every key may have changed.
 */
export function startFeed(options: FeedOptions): () => void {
  const { onChange, onGap } = options
  const { index, stream, writer } = options.records
  const startedAt = performance.now()
  let link: ReturnType<Link['duplicate']> | undefined
  /** The ID of the last entry that was read. */
  let position: string | undefined
  /** Whether an entry has been read before. */
  let hasRead = false
  let hasEnded = false

  async function read(args: Command, ms = REPLY_TIMEOUT_MS): Promise<unknown> {
    const client = options.isReady ? options.link : link
    if (!client || hasEnded) throw new Error()
    return withTimeout(client.send(args, stream), ms)
  }

  async function follow(): Promise<void> {
    if (!options.isReady) {
      link = options.link.duplicate()
      await withTimeout(link.connected, CONNECT_MS)
    }
    for (;;) {
      position ??= await findPosition()
      const [first, ...later] = await readEntries(position)
      if (first?.id !== position) position = undefined
      else {
        for (const entry of later) {
          notify(entry.name)
          position = entry.id
        }
        // XREAD only waits for a change. Its reply isn't read, because it differs between protocol versions.
        const wait = ['XREAD', 'COUNT', '1', 'BLOCK', String(BLOCK_MS), 'STREAMS', stream, position] as const
        await read(wait, BLOCK_MS + REPLY_TIMEOUT_MS)
      }
    }
  }

  /**
   * Adds an entry without a key; reading continues from there. Reports other writers' changes since the feed was started. If the feed has read
   * before, or couldn't connect for a long time, calls `onGap` and reports every existing key instead.
   */
  async function findPosition(): Promise<string> {
    const id = (await read(['XADD', stream, '*', 'name', ''])) as string
    const watchedMs = performance.now() - startedAt
    if (hasRead || watchedMs > START_TIMEOUT_MS) {
      onGap()
      for (const name of (await read(['ZRANGEBYLEX', index, '-', '+'])) as string[]) notify(name)
    } else {
      const from = String(Math.floor(parseFloat(id) - watchedMs))
      for (const entry of await readEntries(from, id)) if (entry.writer !== writer) notify(entry.name)
    }
    hasRead = true
    return id
  }

  async function readEntries(from: string, to = '+') {
    const found = await read(['XRANGE', stream, from, to])
    return (found as Array<[id: string, fields: string[]]>).map(([id, [, name = '', , writer]]) => ({
      id,
      name,
      writer,
    }))
  }

  function notify(name: string): void {
    if (name && !hasEnded) onChange(fromOrdered(name))
  }

  function end(): void {
    link?.end()
    link = undefined
  }

  async function run(): Promise<void> {
    let lastNoticeAt = startedAt
    while (!hasEnded) {
      await follow().catch(noop) // missed changes are reported after the next connection
      end()
      if (!hasEnded && options.isReachable() && performance.now() - lastNoticeAt >= GAP_INTERVAL_MS) {
        lastNoticeAt = performance.now()
        onGap()
      }
      await sleep(PAUSE_MS)
    }
  }

  void run()
  return () => {
    hasEnded = true
    end()
  }
}
