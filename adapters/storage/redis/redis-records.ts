import type { Storage, Stored } from '../../../src/index.ts'
import { fromOrdered, getUpperBound, toOrdered } from '../lib/ordered-text.ts'
import type { Command } from './redis-client.ts'
import type { RedisConnection } from './redis-connection.ts'
import { LIST_SCRIPT, WRITE_SCRIPT } from './scripts.ts'

/** Maximum entries per page of a list. */
const PAGE_SIZE = 500

/** Matches an entry: its version, a space, and the value. */
const ENTRY_PATTERN = /^([\da-f-]{36}) ([\s\S]*)$/

/** Reads and writes a store's entries, the index of their names, and the change stream. All key names start with `root`. */
export function createRedisRecords({ send, getDeadline }: Pick<RedisConnection, 'send' | 'getDeadline'>, root: string) {
  const index = `${root}i`
  const stream = `${root}s`
  const writer = crypto.randomUUID()
  /**
   * How far the server's clock is ahead of this one, or a lower bound. It starts so low that the first write is treated as late and is sent again.
   */
  let clockOffsetMs = -1e15

  const updateClockOffset = (serverTime: string) => {
    clockOffsetMs = Number(serverTime) - performance.now()
  }
  const getEntryKey = (name: string) => `${root}k:${name}`
  const read = (...createArgs: Command) => send(() => createArgs)

  return {
    index,
    stream,
    /** Identifies this store's own changes in the stream. */
    writer,

    get: async (key: string) => parseEntry(await read('GET', getEntryKey(toOrdered(key)))),

    /** Implements `Storage.list`. */
    async list(prefix: string, { after = '', limit = Number.POSITIVE_INFINITY }: RangeOptions = {}) {
      const found: Array<Stored & { key: string }> = []
      const start = toOrdered(prefix)
      let from = after && after >= prefix ? `(${toOrdered(after)}` : `[${start}`
      while (found.length < limit) {
        const count = Math.min(PAGE_SIZE, limit - found.length)
        const range = [from, `(${getUpperBound(start)}`, String(count)] as const
        const page = await read('EVAL', LIST_SCRIPT, '2', index, getEntryKey(''), ...range)
        const [serverTime, names, texts] = page as [string, string[], unknown[]] // the script returns these three values
        updateClockOffset(serverTime)
        for (const [index, name] of names.entries()) {
          const stored = parseEntry(texts[index])
          if (stored) found.push({ key: fromOrdered(name), ...stored })
        }
        if (names.length < count) break
        from = `(${names.at(-1)}`
      }
      return found
    },

    /**
     * Applies a write exactly once, no matter how often it is sent, and never after this function has rejected. The script compares the server's
     * clock, which each reply contains, with the write's deadline.
     */
    async write(
      operation: 'set' | 'delete' | 'increment',
      key: string,
      {
        value = '',
        ifVersion,
        ttlMs,
      }: { value?: string; ifVersion?: string | null | undefined; ttlMs?: number | undefined },
    ) {
      const id = crypto.randomUUID()
      const name = toOrdered(key)
      const ttl = ttlMs === undefined ? '' : String(Math.ceil(ttlMs))
      const touched = [getEntryKey(name), index, `${root}x`, stream, `${root}o:${id}`]
      const expected = ifVersion === undefined ? '*' : ifVersion === null ? '-' : `=${ifVersion}`
      const deadline = getDeadline()
      for (;;) {
        const createArgs = () => {
          const latest = String(deadline + clockOffsetMs)
          return [
            'EVAL',
            WRITE_SCRIPT,
            '5',
            ...touched,
            operation,
            name,
            id,
            expected,
            value,
            ttl,
            writer,
            latest,
          ] as const
        }
        const [serverTime, result] = (await send(createArgs, deadline)) as [string, string] // the script returns these two values
        updateClockOffset(serverTime)
        if (result !== 'late') return { result, id } // a late write is retried until the timeout
      }
    },
  }
}

/** A store's entries. */
export type RedisRecords = ReturnType<typeof createRedisRecords>

type RangeOptions = NonNullable<Parameters<Storage['list']>[1]>

/** Parses what is stored under an entry's key. */
export function parseEntry(reply: unknown): Stored | undefined {
  if (reply === null) return undefined
  const text = String(reply)
  const [, version = text.slice(0, 36), value = text] = ENTRY_PATTERN.exec(text) ?? [] // reads an entry from another program as one damaged record
  return { value, version }
}
