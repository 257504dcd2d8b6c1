import type { Citation } from './citations.ts'
import type { AssistantPart } from './parts.ts'
import type { Origin } from './state.ts'
import type { ReaderEvent } from './stream.ts'

/** How the reader of a stream emits its parts. */
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

/** A part of text that starts with what is first said of it. */
function createOpenPart({ start, emit }: PartEvents, part: AssistantPart) {
  let key: number | undefined
  const open = () => {
    key ??= start(part)
    return key
  }
  return {
    open,
    say(text: string): void {
      if (text !== '') emit({ type: 'part-delta', key: open(), text })
    },
    end(): void {
      if (key !== undefined) emit({ type: 'part-end', key })
    },
  }
}

/** A text part that starts with its first text or citation, so that an empty block is no part. */
export function createTextPart(parts: PartEvents) {
  const { open, say, end } = createOpenPart(parts, { type: 'text', text: '' })
  return {
    say,
    cite(citation: Citation | undefined): void {
      if (citation) parts.emit({ type: 'part-citation', key: open(), citation })
    },
    end,
  }
}

/** A thought that starts with its first text, or with its signature at the end; the last signature that is not empty counts. */
export function createThoughtPart(parts: PartEvents, origin: Origin) {
  const { open, say, end } = createOpenPart(parts, { type: 'reasoning', text: '' })
  let signature = ''
  return {
    say,
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
