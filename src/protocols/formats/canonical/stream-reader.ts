import type { JsonObject } from '../../../lib/json.ts'
import type { AssistantPart, Citation } from './canonical-parts.ts'
import type { Origin } from './canonical-state.ts'
import type { ReaderEvent } from './canonical-stream.ts'

/** Reads one block in a stream of numbered blocks. */
export interface BlockReader {
  addDelta(delta: JsonObject): void
  end(): void
}

/** Creates the collection of open blocks, by index. A block that starts at an index in use ends the earlier block. */
export function createBlockCollection() {
  const openBlocks = new Map<unknown, BlockReader>()

  function end(index: unknown): void {
    const block = openBlocks.get(index)
    openBlocks.delete(index)
    block?.end()
  }

  return {
    /** Calls `createReader` after the earlier block at this index has ended. */
    start(index: unknown, createReader: () => BlockReader): void {
      end(index)
      openBlocks.set(index, createReader())
    },
    /** Adds a delta to the block at this index. Returns `false` if no block is open there. */
    addDelta(index: unknown, delta: JsonObject): boolean {
      const block = openBlocks.get(index)
      block?.addDelta(delta)
      return block !== undefined
    },
    end,
    endAll(): void {
      for (const index of [...openBlocks.keys()]) end(index)
    },
  }
}

export interface PartEvents {
  /** Starts a part and returns its key. */
  start(part: AssistantPart): number
  emit(event: ReaderEvent): void
}

/** Numbers the parts of a single-candidate stream, from 0. */
export function createPartEvents(emit: (event: ReaderEvent) => void): PartEvents {
  let nextKey = 0
  function start(part: AssistantPart): number {
    emit({ type: 'part-start', key: nextKey, candidate: 0, part })
    return nextKey++
  }
  return { start, emit }
}

/** Starts a part with its first text, citation, or state. */
function createPartEmitter({ start, emit }: PartEvents, part: AssistantPart) {
  let key: number | undefined
  const ensureOpen = () => {
    key ??= start(part)
    return key
  }
  return {
    open: ensureOpen,
    append(text: string): void {
      if (text !== '') emit({ type: 'part-delta', key: ensureOpen(), text })
    },
    end(): void {
      if (key !== undefined) emit({ type: 'part-end', key })
    },
  }
}

/** Creates a text part that starts with its first text or citation, so an empty block creates no part. */
export function createTextEmitter(parts: PartEvents) {
  const { open, append, end } = createPartEmitter(parts, { type: 'text', text: '' })
  return {
    append,
    addCitation(citation: Citation | undefined): void {
      if (citation) parts.emit({ type: 'part-citation', key: open(), citation })
    },
    end,
  }
}

/** Creates a reasoning part that starts with its first text, or at its end with its signature. The last nonempty signature counts. */
export function createReasoningEmitter(parts: PartEvents, origin: Origin) {
  const { open, append, end } = createPartEmitter(parts, { type: 'reasoning', text: '' })
  let signature = ''
  return {
    append,
    setSignature(newSignature: string): void {
      signature = newSignature || signature
    },
    end(): void {
      if (signature !== '')
        parts.emit({ type: 'part-state', key: open(), state: { origin, kind: 'signature', data: signature } })
      end()
    },
  }
}

const MAX_CANDIDATES = 128

/** Reads a candidate's index: an integer below 128, the most that a client can request. Anything else counts as 0. */
export const readCandidateIndex = (index: unknown): number =>
  typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < MAX_CANDIDATES ? index : 0
