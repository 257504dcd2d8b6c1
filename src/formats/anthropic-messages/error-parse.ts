import { isObject, type JsonObject } from '../../lib/json.ts'
import type { CanonicalError, ErrorKind } from '../canonical/errors.ts'
import type { ErrorAnswer } from '../translator.ts'
import { kindOf, parseEmbeddedError, parseVendorError } from '../vendor-error.ts'

/** A provider's error answer: its type says more than its status. */
export function parseError(answer: ErrorAnswer): CanonicalError {
  const error = isObject(answer.body) ? answer.body.error : undefined
  return refine(parseVendorError(answer), isObject(error) ? error : {})
}

/** The error in an event of a stream. */
export function streamError(error: unknown): CanonicalError {
  const { message, status } = parseEmbeddedError(error)
  return refine({ kind: kindOf(status, message), status, message }, isObject(error) ? error : {})
}

function refine(error: CanonicalError, { type, details }: JsonObject): CanonicalError {
  const fine = isObject(details) ? details.error_code : undefined
  const code = typeof fine === 'string' ? fine : type
  const kind = typeof type === 'string' && !SAID_BETTER.has(error.kind) ? kinds.get(type) : undefined
  return { ...error, kind: kind ?? error.kind, ...(typeof code === 'string' && { code }) }
}

/** What the message alone tells. */
const SAID_BETTER: ReadonlySet<ErrorKind> = new Set(['context-overflow', 'billing'])

/** The types that say more than "bad request" and "server". */
const kinds: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['authentication_error', 'authentication'],
  ['billing_error', 'billing'],
  ['permission_error', 'permission'],
  ['not_found_error', 'not-found'],
  ['conflict_error', 'conflict'],
  ['request_too_large', 'too-large'],
  ['rate_limit_error', 'rate-limit'],
  ['timeout_error', 'timeout'],
  ['overloaded_error', 'overloaded'],
])
