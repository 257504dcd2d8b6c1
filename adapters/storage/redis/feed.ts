import { fromOrdered } from '../lib/ordered-text.ts'
import { type Command, type Link, noop, sleep, within } from './redis-client.ts'

/** What a feed reads and whom it tells. */
export interface FeedOptions {
  link: Link
  /** May the link be used as it is, and never be closed? Otherwise the feed makes connections of its own from it. */
  isReady: boolean
  index: string
  stream: string
  /** Whose changes the first look passes over. */
  writer: string
  /** Does the store answer elsewhere? */
  isReachable(): boolean
  onChange(key: string): void
  onGap(): void
}

/** A wait for the next change, and how long an answer may take on top, and a connection. In ms. */
const BLOCK_MS = 1_000
const ANSWER_MS = 1_500
const CONNECT_MS = 1_000
/** Between two connections. */
const PAUSE_MS = 100
/** Between two calls of `onGap` while the store answers elsewhere and the feed is blind. */
const BLIND_MS = 1_000
/** One who was blind for so long from the start on takes everything for changed. */
const LATE_MS = 5_000

/**
 * Tells of the changes in the stream, from now on; returns the function that stops it. Each look starts with the entry that was read last: when
 * that is gone, the stream was cut, emptied or set back, and then everything may have changed.
 */
export function startFeed(options: FeedOptions): () => void {
  const { stream, index, writer, onChange, onGap } = options
  const startedAt = performance.now()
  let link: ReturnType<Link['duplicate']> | undefined
  /** The id of the entry that was read last. */
  let position: string | undefined
  /** Was there one already? */
  let hasRead = false
  let isOver = false

  async function read(args: Command, ms = ANSWER_MS): Promise<unknown> {
    const by = options.isReady ? options.link : link
    if (!by || isOver) throw new Error()
    return within(by.send(args, stream), ms)
  }

  async function follow(): Promise<void> {
    if (!options.isReady) {
      link = options.link.duplicate()
      await within(link.connected, CONNECT_MS)
    }
    for (;;) {
      position ??= await locate()
      const [first, ...later] = await entries(position)
      if (first?.id !== position) position = undefined
      else {
        for (const entry of later) {
          tell(entry.name)
          position = entry.id
        }
        // Only to wake up: what it returns differs between the versions of the protocol.
        const wait = ['XREAD', 'COUNT', '1', 'BLOCK', String(BLOCK_MS), 'STREAMS', stream, position] as const
        await read(wait, BLOCK_MS + ANSWER_MS)
      }
    }
  }

  /**
   * Adds an entry that names no key, to read on from there. Tells of what others have changed since the feed was started; once it has read, or
   * could not for long, that anything may have changed, and every key that there is.
   */
  async function locate(): Promise<string> {
    const id = (await read(['XADD', stream, '*', 'name', ''])) as string
    const watchedMs = performance.now() - startedAt
    if (hasRead || watchedMs > LATE_MS) {
      onGap()
      for (const name of (await read(['ZRANGEBYLEX', index, '-', '+'])) as string[]) tell(name)
    } else {
      const from = String(Math.floor(parseFloat(id) - watchedMs))
      for (const entry of await entries(from, id)) if (entry.writer !== writer) tell(entry.name)
    }
    hasRead = true
    return id
  }

  async function entries(from: string, to = '+') {
    const found = await read(['XRANGE', stream, from, to])
    return (found as Array<[id: string, fields: string[]]>).map(([id, [, name = '', , writer]]) => ({
      id,
      name,
      writer,
    }))
  }

  function tell(name: string): void {
    if (name && !isOver) onChange(fromOrdered(name))
  }

  function end(): void {
    link?.end()
    link = undefined
  }

  async function run(): Promise<void> {
    let toldAt = startedAt
    while (!isOver) {
      await follow().catch(noop) // what it missed is told after the next connection
      end()
      if (!isOver && options.isReachable() && performance.now() - toldAt >= BLIND_MS) {
        toldAt = performance.now()
        onGap()
      }
      await sleep(PAUSE_MS)
    }
  }

  void run()
  return () => {
    isOver = true
    end()
  }
}
