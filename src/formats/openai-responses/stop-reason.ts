import { isObject, type JsonObject } from '../../lib/json.ts'
import type { FinishReason } from '../canonical/answer.ts'
import type { WireOutcome } from './wire.ts'

/** How a response ended: its `status`, and what it says of being incomplete. */
export function finishReasonOf({ status, incomplete_details: details }: JsonObject): FinishReason {
  if (status !== 'incomplete') return 'stop'
  const reason = isObject(details) && typeof details.reason === 'string' ? details.reason : ''
  return reasons.get(reason) ?? 'length'
}

const reasons = new Map<string, FinishReason>(
  Object.entries({
    max_output_tokens: 'length',
    max_messages: 'length',
    content_filter: 'content-filter',
    steered: 'stop', // the client went on without it
  } satisfies Record<string, FinishReason>),
)

type Ending = Pick<WireOutcome, 'incomplete_details'> & { status: 'completed' | 'incomplete' | 'failed' }

/** The reverse, for a client. */
export const wireEnding = (reason: FinishReason): Ending => endings[reason]

const COMPLETED: Ending = { status: 'completed', incomplete_details: null }
const CUT: Ending = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }

const endings: Readonly<Record<FinishReason, Ending>> = {
  stop: COMPLETED,
  'stop-sequence': COMPLETED,
  'tool-calls': COMPLETED,
  pause: COMPLETED,
  length: CUT,
  'context-window': CUT,
  'content-filter': { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
  'malformed-call': { status: 'failed', incomplete_details: null },
}
