import type { EmbeddedError } from './canonical-errors.ts'

export const NO_REASON_MESSAGE = 'The provider reported an error.'

/** How many events, such as keep-alives, a provider may send between a failure without a reason and the event that explains it. */
export const MAX_EVENTS_BEFORE_REASON = 8

/** Returns whether an error contains a reason. Some errors have only blank fields. */
export function hasReason(error: unknown, depth = 0): boolean {
  if (typeof error === 'string') return !NO_DETAIL_PATTERN.test(error.trim()) && error !== NO_REASON_MESSAGE
  if (typeof error === 'number') return error >= 400 && error < 500
  if (typeof error !== 'object' || error === null) return false
  if (depth > MAX_DEPTH) return true
  return Object.entries(error).some(([name, value]) => !UNRELATED_FIELDS.has(name) && hasReason(value, depth + 1))
}

const NO_DETAIL_PATTERN =
  /^(?:(?:internal_server|server|api|upstream|unknown|internal)_error|error|internal|unknown|)$/i

const MAX_DEPTH = 8

/** Fields in an error event that aren't about the error. */
const UNRELATED_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'event_id',
  'request_id',
  'response_id',
  'sequence_number',
  'usage',
  'choices',
])

/** Picks the error to report for a stream: the earlier one, unless it gave no reason and the later one does. */
export const pickStreamError = (
  earlier: EmbeddedError | undefined,
  later: EmbeddedError | undefined,
): EmbeddedError | undefined =>
  earlier && !(earlier.isVague && later && !later.isVague) ? earlier : (later ?? earlier)
