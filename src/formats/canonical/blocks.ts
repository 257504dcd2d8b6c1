import type { JsonObject } from '../../lib/json.ts'

/** Reads one block of a stream that is divided into numbered blocks. */
export interface BlockReader {
  add(delta: JsonObject): void
  end(): void
}

/** The blocks under way, by index. A block that starts under the index of another ends that one. */
export function createBlocks() {
  const open = new Map<unknown, BlockReader>()

  function end(index: unknown): void {
    const block = open.get(index)
    open.delete(index)
    block?.end()
  }

  return {
    /** `create` is called when the block before under this index has ended. */
    start(index: unknown, create: () => BlockReader): void {
      end(index)
      open.set(index, create())
    },
    /** Answers whether there is a block under this index. */
    add(index: unknown, delta: JsonObject): boolean {
      const block = open.get(index)
      block?.add(delta)
      return block !== undefined
    },
    end,
    endAll(): void {
      for (const index of [...open.keys()]) end(index)
    },
  }
}
