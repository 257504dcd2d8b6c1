import type { JsonObject } from '../../lib/json.ts'
import type { AssistantPart, Citation } from './parts.ts'
import type { Origin } from './state.ts'
import type { ReaderEvent } from './stream.ts'

/** Reads one block of a stream that is divided into numbered blocks. */
export interface BlockReader {
  add(delta: JsonObject): void
  end(): void
}

/** The open blocks, by index. A block that starts under an index in use ends the earlier block. */
export function createBlocks() {
  const open = new Map<unknown, BlockReader>()

  function end(index: unknown): void {
    const block = open.get(index)
    open.delete(index)
    block?.end()
  }

  return {
    /** Calls `create` after the earlier block under this index has ended. */
    start(index: unknown, create: () => BlockReader): void {
      end(index)
      open.set(index, create())
    },
    /** Returns whether a block is open under this index. */
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

/** How a stream reader emits parts. */
export interface PartEvents {
  /** Starts a part and returns its key. */
  start(part: AssistantPart): number
  emit(event: ReaderEvent): void
}

/** The parts of a stream with a single candidate, numbered from 0. */
export function createPartEvents(emit: (event: ReaderEvent) => void): PartEvents {
  let next = 0
  function start(part: AssistantPart): number {
    emit({ type: 'part-start', key: next, candidate: 0, part })
    return next++
  }
  return { start, emit }
}

/** A part that starts with its first text, citation or state. */
function createOpenPart({ start, emit }: PartEvents, part: AssistantPart) {
  let key: number | undefined
  const open = () => {
    key ??= start(part)
    return key
  }
  return {
    open,
    append(text: string): void {
      if (text !== '') emit({ type: 'part-delta', key: open(), text })
    },
    end(): void {
      if (key !== undefined) emit({ type: 'part-end', key })
    },
  }
}

/** A text part that starts with its first text or citation, so that an empty block makes no part. */
export function createTextPart(parts: PartEvents) {
  const { open, append, end } = createOpenPart(parts, { type: 'text', text: '' })
  return {
    append,
    cite(citation: Citation | undefined): void {
      if (citation) parts.emit({ type: 'part-citation', key: open(), citation })
    },
    end,
  }
}

/** A reasoning part that starts with its first text, or at its end with its signature. The last signature that is not empty counts. */
export function createReasoningPart(parts: PartEvents, origin: Origin) {
  const { open, append, end } = createOpenPart(parts, { type: 'reasoning', text: '' })
  let signature = ''
  return {
    append,
    sign(given: string): void {
      signature = given || signature
    },
    end(): void {
      if (signature !== '')
        parts.emit({ type: 'part-state', key: open(), state: { origin, kind: 'signature', data: signature } })
      end()
    },
  }
}

/** No client can ask for more candidates. */
const MAX_CANDIDATES = 128

/** The number of a candidate as a provider sends it: a whole number below 128; anything else counts as 0. */
export const candidateIndex = (index: unknown): number =>
  typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < MAX_CANDIDATES ? index : 0
