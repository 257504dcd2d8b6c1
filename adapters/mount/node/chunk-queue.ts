import type { ByteStream } from '../../../src/index.ts'

/**
 * The number of unread bytes at which the source is paused. The rest of the current socket read still arrives: up to 8 KiB on the adapter's own
 * connections.
 */
const HIGH_WATER_MARK = 4 * 1024

/** The source of the chunks. */
export interface ChunkSource {
  pause(): void
  resume(): void
  cancel(reason: unknown): void
}

interface Waiter {
  resolve(chunk: Uint8Array | undefined): void
  reject(error: Error): void
}

const resolved = Promise.resolve()

/**
 * A body that a connection pushes and its reader pulls. Everything that arrives in one socket read is returned as one chunk, which saves most of
 * the cost of a stream under load.
 */
export class ChunkQueue implements ByteStream {
  readonly #source: ChunkSource
  #chunks: Uint8Array[] = []
  #size = 0
  #isPaused = false
  #hasEnded = false
  #error: Error | undefined
  #waiter: Waiter | undefined

  constructor(source: ChunkSource) {
    this.#source = source
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return // undici sends an empty chunk when it resumes
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size >= HIGH_WATER_MARK && !this.#isPaused) {
      this.#isPaused = true
      this.#source.pause()
    }
    if (this.#chunks.length === 1 && this.#waiter) void resolved.then(this.#settle) // resolves after the entire socket read has been parsed
  }

  /** Ends the body, with `error` if it was cut off. Chunks that have already arrived can still be read. */
  end(error?: Error): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#error = error
    if (this.#waiter) void resolved.then(this.#settle)
  }

  /** Resolves to everything that has arrived since the last call. */
  next(): Promise<Uint8Array | undefined> {
    if (this.#size > 0) return Promise.resolve(this.#take())
    if (this.#error) return Promise.reject(this.#error)
    if (this.#hasEnded) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject }
    })
  }

  /** Returns all unread bytes if the body has already ended, as is usual for a short response, or otherwise `undefined`. */
  whole(): Promise<Uint8Array> | undefined {
    return this.#hasEnded && !this.#error ? Promise.resolve(this.#take()) : undefined
  }

  cancel(reason?: unknown): void {
    this.#chunks = []
    this.#size = 0
    this.#source.cancel(reason)
  }

  readonly #settle = (): void => {
    const waiter = this.#waiter
    if (!waiter) return
    this.#waiter = undefined
    if (this.#size > 0) waiter.resolve(this.#take())
    else if (this.#error) waiter.reject(this.#error)
    else waiter.resolve(undefined)
  }

  #take(): Uint8Array {
    const [first] = this.#chunks
    const bytes = first && this.#chunks.length === 1 ? first : concatChunks(this.#chunks, this.#size)
    this.#chunks = []
    this.#size = 0
    if (this.#isPaused) {
      this.#isPaused = false
      if (!this.#hasEnded) this.#source.resume() // after the end, another call may already be using the connection
    }
    return bytes
  }
}

/** Copies into newly allocated memory. `Buffer.concat` uses Node's buffer pool, where keeping one small chunk would keep an entire block alive. */
function concatChunks(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
