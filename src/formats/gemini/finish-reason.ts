import type { Finish, FinishReason } from '../canonical/answer.ts'
import { defined } from '../canonical/defined.ts'
import type { WireFinish } from './wire.ts'

/** Why a candidate ended, or undefined: it has not. Calls are told from the content, since their reason is STOP as well. */
export function finishOf(reason: unknown, explanation?: unknown): Finish | undefined {
  const name = typeof reason === 'number' ? byNumber[reason] : reason
  if (typeof name !== 'string' || name === '' || isVagueEnd(name)) return undefined
  const known = read.get(name) ?? 'stop'
  const isTold = known === 'content-filter' || known === 'malformed-call'
  return defined<Finish>({
    reason: known,
    explanation: isTold && typeof explanation === 'string' && explanation !== '' ? explanation : undefined,
  })
}

/** Some layers over Google's have this where there is no reason: in every chunk, or only in the last. */
export const isVagueEnd = (reason: unknown): boolean => reason === 'FINISH_REASON_UNSPECIFIED'

/** A prompt that was blocked has no candidates, only `promptFeedback`. */
export function blockedFinish(blockReason: unknown, message: unknown): Finish | undefined {
  if (typeof blockReason !== 'string' || blockReason === 'BLOCKED_REASON_UNSPECIFIED') return undefined
  return {
    reason: 'content-filter',
    explanation: typeof message === 'string' && message !== '' ? message : blockReason,
  }
}

const read = new Map<string, FinishReason>(
  Object.entries({
    STOP: 'stop',
    MAX_TOKENS: 'length',
    SAFETY: 'content-filter',
    RECITATION: 'content-filter',
    LANGUAGE: 'content-filter',
    OTHER: 'content-filter', // nothing more is said, and the answer is not complete
    BLOCKLIST: 'content-filter',
    PROHIBITED_CONTENT: 'content-filter',
    SPII: 'content-filter',
    MODEL_ARMOR: 'content-filter',
    IMAGE_SAFETY: 'content-filter',
    IMAGE_PROHIBITED_CONTENT: 'content-filter',
    IMAGE_RECITATION: 'content-filter',
    IMAGE_OTHER: 'content-filter',
    CONTINUATION: 'pause',
    MALFORMED_FUNCTION_CALL: 'malformed-call',
    MALFORMED_RESPONSE: 'malformed-call',
    UNEXPECTED_TOOL_CALL: 'malformed-call',
    TOO_MANY_TOOL_CALLS: 'malformed-call',
    MISSING_THOUGHT_SIGNATURE: 'malformed-call',
  } satisfies Record<string, FinishReason>),
)

/** Where the request asked for enums as numbers; the first five mean the same in all of Google's versions. */
const byNumber = ['FINISH_REASON_UNSPECIFIED', 'STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'OTHER']

/** `finishReason` for a client. */
export const wireFinish = (reason: FinishReason): WireFinish => write[reason]

const write: Readonly<Record<FinishReason, WireFinish>> = {
  stop: 'STOP',
  'stop-sequence': 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  'context-window': 'MAX_TOKENS',
  'content-filter': 'SAFETY',
  pause: 'CONTINUATION',
  'malformed-call': 'MALFORMED_FUNCTION_CALL',
}
