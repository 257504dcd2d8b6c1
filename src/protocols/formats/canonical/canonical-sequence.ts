import { assertNever } from '../../../lib/assert-never.ts'
import { type CanonicalError, MALFORMED_CALL } from './canonical-errors.ts'
import { type Finish, resolveFinish, type TokenUsage } from './canonical-response.ts'
import type { PartDeltaEvent, ReaderEvent, StreamEvent } from './canonical-stream.ts'
import { MAX_EVENTS_BEFORE_REASON } from './late-reason.ts'
import { isBlankUsage, updateUsage } from './reported-usage.ts'

/** Puts a reader's events in the order that `StreamEvent` requires. */
interface EventSequencer {
  push(event: ReaderEvent): void
  /** Call this after each of the provider's events, because that event may have been the last chance to explain a failure. */
  countEvent(): void
  /** Ends the stream. Unless there was a finish reason or an end marker, it ends with an error. */
  end(): void
  /** Ends the stream with an error from the connection or the gateway. */
  fail(error: CanonicalError): void
  /** The usage reported by the provider so far. */
  readonly usage: TokenUsage | undefined
  /** Whether the provider has reported more than the usage at the start of the stream. */
  readonly hasReportedUsage: boolean
}

/** Creates an event sequencer, which alone determines how a translated stream ends. Drops candidates beyond `candidateCount`. */
export function createEventSequencer(
  emit: (event: StreamEvent) => void,
  candidateCount = Number.POSITIVE_INFINITY,
): EventSequencer {
  const openKeys = new Set<number>()
  const candidates: CandidateFinish[] = []
  let usage: TokenUsage | undefined
  let hasReportedUsage = false
  let isStarted = false
  let hasEnded = false
  let vagueError: CanonicalError | undefined // a failure without a reason, which a later event may explain
  let eventsSinceVagueError = 0

  function push(event: ReaderEvent) {
    if (event.type === 'part-delta') handleDelta(event)
    else handleOther(event)
  }

  function handleDelta(event: PartDeltaEvent) {
    if (vagueError) fail(vagueError)
    else if (!hasEnded && openKeys.has(event.key)) emit(event)
  }

  function handleOther(event: Exclude<ReaderEvent, PartDeltaEvent>) {
    if (event.type === 'usage') return addUsage(event.usage) // usage counts even after an error
    if (hasEnded) return
    if (vagueError && event.type !== 'start' && event.type !== 'error') return fail(vagueError)
    switch (event.type) {
      case 'start':
        usage = updateUsage(usage, event.usage)
        if (isStarted) return // some providers send the start twice
        isStarted = true
        return emit(event)
      case 'part-start': {
        if (event.candidate >= candidateCount) return
        ensureStarted()
        openKeys.add(event.key)
        const candidate = getCandidate(event.candidate)
        if (event.part.type === 'tool-call') candidate.hasToolCalls = true
        return emit(event)
      }
      case 'part-end':
        if (openKeys.delete(event.key)) emit(event)
        return
      case 'finish':
        if (event.candidate >= candidateCount) return
        getCandidate(event.candidate).finish ??= event.finish
        return
      case 'error':
        if (!isVagueError(event.error)) return fail(event.error)
        vagueError ??= event.error
        return
      case 'unreadable': // ignored before the response starts and after it finishes
        if (isStarted && !isComplete())
          fail({ kind: 'server', status: 502, code: 'UPSTREAM_INVALID', message: UNREADABLE_MESSAGE })
        return
      case 'done':
        return complete()
      case 'part-state':
      case 'part-citation':
        if (openKeys.has(event.key)) emit(event)
        return
      default:
        return assertNever(event)
    }
  }

  function addUsage(reportedUsage: TokenUsage) {
    usage = updateUsage(usage, reportedUsage)
    hasReportedUsage ||= !isBlankUsage(reportedUsage)
  }

  function ensureStarted() {
    if (isStarted) return
    isStarted = true
    emit({ type: 'start' })
  }

  function getCandidate(index: number): CandidateFinish {
    while (candidates.length <= index) candidates.push({ finish: undefined, hasToolCalls: false })
    return candidates[index] ?? { finish: undefined, hasToolCalls: false }
  }

  const isComplete = () => candidates.length > 0 && candidates.every(({ finish }) => finish)

  function complete() {
    if (hasEnded) return
    ensureStarted()
    const malformedFinish = candidates.find(({ finish }) => finish?.reason === 'malformed-call')?.finish
    if (malformedFinish)
      return fail({ ...MALFORMED_ERROR, ...(malformedFinish.explanation && { message: malformedFinish.explanation }) })
    hasEnded = true
    for (const key of openKeys) emit({ type: 'part-end', key })
    const finishes = candidates.map(({ finish, hasToolCalls }) => resolveFinish(finish, hasToolCalls))
    if (finishes.length === 0) finishes.push({ reason: 'stop' })
    emit(usage ? { type: 'end', finishes, usage } : { type: 'end', finishes })
  }

  function fail(error: CanonicalError) {
    if (hasEnded) return
    hasEnded = true
    emit(usage ? { type: 'error', error, usage } : { type: 'error', error })
  }

  return {
    push,
    fail,
    get usage() {
      return usage
    },
    get hasReportedUsage() {
      return hasReportedUsage
    },
    countEvent() {
      if (vagueError && ++eventsSinceVagueError > MAX_EVENTS_BEFORE_REASON) fail(vagueError)
    },
    end() {
      if (vagueError) fail(vagueError)
      else if (isComplete()) complete()
      else fail({ kind: 'server', status: 502, code: 'UPSTREAM_CUT', message: ENDED_EARLY_MESSAGE })
    },
  }
}

const isVagueError = ({ source }: CanonicalError): boolean => source?.isVague === true

interface CandidateFinish {
  finish: Finish | undefined
  hasToolCalls: boolean
}

const MALFORMED_ERROR = {
  kind: 'server',
  status: 502,
  code: MALFORMED_CALL,
  message: 'The model made a malformed tool call.',
} as const
const UNREADABLE_MESSAGE = 'The provider sent a malformed event.'
const ENDED_EARLY_MESSAGE = 'The provider ended the stream before the response was complete.'
