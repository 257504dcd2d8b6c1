import type { ByteStream } from '../../../src/index.ts'

/** The source is paused at this many unread bytes; the rest of the read that brought them still follows, 8 KiB on own connections. */
const HIGH_WATER = 4 * 1024

/** The source of the chunks. */
export interface ChunkSource {
  hold(): void
  release(): void
  cancel(reason: unknown): void
}

interface Waiter {
  resolve(chunk: Uint8Array | undefined): void
  reject(error: Error): void
}

const now = Promise.resolve()

/**
 * A body that is pushed and pulled. All that arrives in one read of the connection is returned in one piece, which under load saves most of
 * the cost of a stream.
 */
export class ChunkQueue implements ByteStream {
  readonly #source: ChunkSource
  #chunks: Uint8Array[] = []
  #size = 0
  #isHeld = false
  #isOver = false
  #error: Error | undefined
  #waiter: Waiter | undefined

  constructor(source: ChunkSource) {
    this.#source = source
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return // undici begins with one when it goes on
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size >= HIGH_WATER && !this.#isHeld) {
      this.#isHeld = true
      this.#source.hold()
    }
    if (this.#chunks.length === 1 && this.#waiter) void now.then(this.#settle) // when the read has been parsed to its end
  }

  /** Ends the body, with `error` if it broke off. What has arrived can still be read. */
  end(error?: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#error = error
    if (this.#waiter) void now.then(this.#settle)
  }

  /** Resolves to all that has arrived since the last call. */
  next(): Promise<Uint8Array | undefined> {
    if (this.#size > 0) return Promise.resolve(this.#take())
    if (this.#error) return Promise.reject(this.#error)
    if (this.#isOver) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject }
    })
  }

  /** All that has not been read, if its end has come, as that of a short answer has when its headers are looked at. */
  whole(): Promise<Uint8Array> | undefined {
    return this.#isOver && !this.#error ? Promise.resolve(this.#take()) : undefined
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
    const bytes = first && this.#chunks.length === 1 ? first : joined(this.#chunks, this.#size)
    this.#chunks = []
    this.#size = 0
    if (this.#isHeld) {
      this.#isHeld = false
      if (!this.#isOver) this.#source.release() // else the connection may serve another by now
    }
    return bytes
  }
}

/** Not in Node's pool of buffers, as `Buffer.concat` does it: what is kept of the bytes would keep a whole block of it. */
function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
