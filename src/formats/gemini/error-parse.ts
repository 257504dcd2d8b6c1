import { isObject, type JsonObject } from '../../lib/json.ts'
import type { CanonicalError, ErrorKind } from '../canonical/errors.ts'
import type { ErrorAnswer } from '../translator.ts'
import { parseEmbeddedError, parseVendorError } from '../vendor-error.ts'

/** A provider's error answer: Google's envelope, alone or in an array, or another one that stands before it. */
export function parseError(answer: ErrorAnswer): CanonicalError {
  const found = parseVendorError(answer)
  const envelope: unknown = Array.isArray(answer.body) ? answer.body[0] : answer.body
  const error = isObject(envelope) && isObject(envelope.error) ? envelope.error : undefined
  return error ? refine(found, error) : found
}

/** The error in a chunk. */
export function streamError(error: unknown): CanonicalError {
  const { status } = parseEmbeddedError(error)
  return parseError({ status, body: { error }, header: () => undefined, now: 0 })
}

/** What only Google says: the name of the status, the reason, and the field that is at fault. */
function refine(found: CanonicalError, error: JsonObject): CanonicalError {
  const details: JsonObject[] = Array.isArray(error.details) ? error.details.filter(isObject) : []
  const reason = details.map((detail) => detail.reason).find(isText)
  const code = isText(error.status) ? error.status : found.code
  const field = fieldIn(details)
  const refined: CanonicalError = { ...found, kind: kindOf(found, reason) }
  if (code !== undefined) refined.code = code
  if (field !== undefined) refined.param = field
  return refined
}

function kindOf({ kind, status, retryAfterMs }: CanonicalError, reason: string | undefined): ErrorKind {
  if (reason === 'API_KEY_INVALID') return 'authentication' // with a status of 400
  // Every limit is a "quota" in Google's words; one that says when it ends is no matter of money.
  if (kind === 'billing' && status === 429 && retryAfterMs !== undefined) return 'rate-limit'
  return kind
}

function fieldIn(details: readonly JsonObject[]): string | undefined {
  const violations = details.flatMap(({ fieldViolations }) => (Array.isArray(fieldViolations) ? fieldViolations : []))
  return violations.map((violation: unknown) => (isObject(violation) ? violation.field : undefined)).find(isText)
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
