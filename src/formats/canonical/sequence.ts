import { assertNever } from '../../lib/assert-never.ts'
import { type Finish, settleFinish, type TokenUsage } from './answer.ts'
import { type CanonicalError, MALFORMED_CALL } from './errors.ts'
import type { PartStartEvent, ReaderEvent, StreamEvent } from './stream.ts'

/** Puts the events of a reader into the order of `StreamEvent`. */
interface Sequence {
  take(event: ReaderEvent): void
  /** Ends the stream; it ends with an error unless there was a finish or an end mark. */
  end(): void
  /** Ends the stream with an error of the connection or the gateway. */
  fail(error: CanonicalError): void
}

/** The one place that decides how a translated stream ends. Candidates beyond the number that was `asked` for are left out. */
export function createSequence(emit: (event: StreamEvent) => void, asked = Number.POSITIVE_INFINITY): Sequence {
  const open = new Set<number>()
  const candidates: CandidateFinish[] = []
  let usage: TokenUsage | undefined
  let isStarted = false
  let isOver = false

  function take(event: ReaderEvent) {
    if (isOver) return
    switch (event.type) {
      case 'part-delta': // checked first, since nearly all events are deltas
        if (open.has(event.key)) emit(event)
        return
      case 'start':
        if (event.usage) usage = event.usage
        if (isStarted) return // some providers send it twice
        isStarted = true
        return emit(event)
      case 'part-start':
        if (event.candidate >= asked) return
        start()
        open.add(event.key)
        note(event)
        return emit(event)
      case 'part-end':
        if (open.delete(event.key)) emit(event)
        return
      case 'finish':
        if (event.candidate >= asked) return
        candidateAt(event.candidate).finish ??= event.finish
        return
      case 'usage':
        usage = event.usage
        return
      case 'error':
        return fail(event.error)
      case 'unreadable': // has no effect before the answer and after its finish
        if (isStarted && !isComplete())
          fail({ kind: 'server', status: 502, code: 'UPSTREAM_INVALID', message: UNREADABLE })
        return
      case 'done':
        return complete()
      case 'part-state':
      case 'part-citation':
        if (open.has(event.key)) emit(event)
        return
      default:
        return assertNever(event)
    }
  }

  function start() {
    if (isStarted) return
    isStarted = true
    emit({ type: 'start' })
  }

  function note({ candidate, part }: PartStartEvent) {
    const seen = candidateAt(candidate)
    if (part.type === 'tool-call') seen.hasToolCalls = true
  }

  function candidateAt(index: number): CandidateFinish {
    while (candidates.length <= index) candidates.push({ finish: undefined, hasToolCalls: false })
    return candidates[index] ?? { finish: undefined, hasToolCalls: false }
  }

  const isComplete = () => candidates.length > 0 && candidates.every(({ finish }) => finish)

  function complete() {
    if (isOver) return
    start()
    const broken = candidates.find(({ finish }) => finish?.reason === 'malformed-call')?.finish
    if (broken) return fail({ ...BROKEN, ...(broken.explanation && { message: broken.explanation }) })
    isOver = true
    for (const key of open) emit({ type: 'part-end', key })
    const finishes = candidates.map(({ finish, hasToolCalls }) => settleFinish(finish, hasToolCalls))
    if (finishes.length === 0) finishes.push({ reason: 'stop' })
    emit(usage ? { type: 'end', finishes, usage } : { type: 'end', finishes })
  }

  function fail(error: CanonicalError) {
    if (isOver) return
    isOver = true
    emit(usage ? { type: 'error', error, usage } : { type: 'error', error })
  }

  return {
    take,
    fail,
    end() {
      if (isComplete()) complete()
      else fail({ kind: 'server', status: 502, code: 'UPSTREAM_CUT', message: CUT })
    },
  }
}

interface CandidateFinish {
  finish: Finish | undefined
  hasToolCalls: boolean
}

const BROKEN = {
  kind: 'server',
  status: 502,
  code: MALFORMED_CALL,
  message: 'The model made a tool call that cannot be read.',
} as const
const UNREADABLE = 'The provider sent an event that cannot be read.'
const CUT = 'The provider ended the stream before its answer was complete.'
