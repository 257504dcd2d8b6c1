import type { Finish } from '../canonical/answer.ts'
import { loseEnd } from '../canonical/losses.ts'
import type { TokenUsage } from '../canonical/usage.ts'
import type { WriteContext } from '../translator.ts'
import { echoed } from './echo.ts'
import { wireEnding } from './stop-reason.ts'
import { wireUsage } from './usage.ts'
import type { WireOutcome } from './wire.ts'

/** A response but for what becomes of it: who it is, and what was asked. */
export function responseHead(context: WriteContext) {
  return {
    id: `resp_${context.newId()}`,
    object: 'response' as const,
    created_at: context.now,
    model: context.model,
    ...stateless,
    ...echoed(context.request),
  }
}

/** Of every response: nothing is stored here. */
export const stateless = { background: false, previous_response_id: null, store: false }

/** One that is still under way. */
export const unfinished: WireOutcome = {
  status: 'in_progress',
  completed_at: null,
  error: null,
  incomplete_details: null,
  output: [],
  usage: null,
}

/** How an answer has ended, but for its output. */
export function outcomeOf(
  finish: Finish,
  usage: TokenUsage | undefined,
  { now, request, losses }: WriteContext,
): WireOutcome {
  const { status, incomplete_details } = wireEnding(finish.reason)
  if (status !== 'failed') loseEnd(finish, request, losses)
  return {
    ...unfinished,
    status,
    incomplete_details,
    completed_at: status === 'completed' ? now : null,
    error: status === 'failed' ? { code: 'server_error', message: finish.explanation ?? MALFORMED } : null,
    usage: usage ? wireUsage(usage) : null,
  }
}

const MALFORMED = 'The model made a tool call that cannot be read.'
