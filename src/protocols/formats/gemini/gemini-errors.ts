import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import { type CanonicalError, type ErrorKind, getClientStatus } from '../canonical/canonical-errors.ts'
import { isKeyErrorCode, toKeyErrorCode } from '../errors/key-errors.ts'
import { parseEmbeddedError, parseProviderError } from '../errors/parse-error.ts'
import { getErrorObject, readMessage } from '../errors/read-error.ts'
import type { ErrorDetails, FormatErrors } from '../format.ts'
import type { ErrorResponse } from '../translator.ts'

export const geminiErrors: FormatErrors = {
  createBody: writeErrorBody,
  createEvent: (error) => `data: ${JSON.stringify(writeErrorBody(error))}\n\n`,
  isReadable,
  isErrorEvent: ({ data }) => isReadable(tryParseJson(data)),
  isOverflowError: ({ message }) => OVERFLOW_PATTERN.test(String(message)),
  /** Reads an error. Its code is the status name, because Google's own `code` is the status number. */
  read(body) {
    const envelope: unknown = Array.isArray(body) ? body[0] : body
    const error = isObject(envelope) && isObject(envelope.error) ? envelope.error : undefined
    return { ...readMessage(body), ...(typeof error?.status === 'string' && { code: error.status }) }
  },
  writeBody: (error) => ({ error }),
}

/** Writes Google's error envelope: the numeric status, its name, and machine-readable details. */
function writeErrorBody({ status, code, message, retryAfterSeconds }: ErrorDetails): object {
  const name = nameByStatus[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
  const text = code === 'CONTEXT_OVERFLOW' ? writeOverflowMessage(message) : message
  const error = { code: status, message: text, status: name }
  if (!isKeyErrorCode(code)) return { error }
  const details: JsonObject[] = [createErrorInfo(code.toLowerCase())]
  if (retryAfterSeconds !== undefined)
    details.push({ '@type': `${RPC_TYPE_PREFIX}.RetryInfo`, retryDelay: `${retryAfterSeconds}s` })
  return { error: { ...error, details } }
}

/** Returns whether the body is a Google error, which may be in an array. */
function isReadable(body: unknown): boolean {
  const envelope: unknown = Array.isArray(body) ? body[0] : body
  return typeof getErrorObject(envelope)?.code === 'number'
}

/** Adds the wording by which clients recognize a context overflow. */
const writeOverflowMessage = (message: string): string =>
  OVERFLOW_PATTERN.test(message)
    ? message
    : `The input token count exceeds the maximum number of tokens allowed. ${message}`

const OVERFLOW_PATTERN = /input token count/i

const nameByStatus: Record<number, string> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
}

/** Parses a provider's error response: Google's envelope, bare or in an array, or a proxy's error. */
export function parseError(response: ErrorResponse): CanonicalError {
  const canonicalError = parseProviderError(response)
  const envelope: unknown = Array.isArray(response.body) ? response.body[0] : response.body
  const error = isObject(envelope) && isObject(envelope.error) ? envelope.error : undefined
  return error ? addDetails(canonicalError, error) : canonicalError
}

/** Parses the error in a chunk. */
export function parseStreamError(error: unknown): CanonicalError {
  const { status, source } = parseEmbeddedError(error)
  return { ...parseError({ status, body: { error }, header: () => undefined, nowMs: 0 }), ...(source && { source }) }
}

/** Adds details that only Google reports: the status name, and the field that caused the error. */
function addDetails(canonicalError: CanonicalError, error: JsonObject): CanonicalError {
  const details: JsonObject[] = Array.isArray(error.details) ? error.details.filter(isObject) : []
  const code = isNonemptyString(error.status) ? error.status : canonicalError.code
  const field = readField(details)
  const detailedError: CanonicalError = { ...canonicalError }
  if (code !== undefined) detailedError.code = code
  if (field !== undefined) detailedError.param = field
  return detailedError
}

function readField(details: readonly JsonObject[]): string | undefined {
  const violations = details.flatMap(({ fieldViolations }) => (Array.isArray(fieldViolations) ? fieldViolations : []))
  return violations
    .map((violation: unknown) => (isObject(violation) ? violation.field : undefined))
    .find(isNonemptyString)
}

const isNonemptyString = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Writes an error for Google's clients. Its details contain the wait and the field that caused the error. */
export function writeError(error: CanonicalError): {
  status: number
  headers: Record<string, string>
  body: JsonObject
} {
  const { kind, message, param, retryAfterMs } = error
  const reason = toKeyErrorCode(error.code)
  const [defaultStatus, name] = reason !== undefined && kind === 'billing' ? BUDGET_STATUS : responseByKind[kind]
  const code = kind === 'server' ? getClientStatus(error, defaultStatus) : defaultStatus
  const headers: Record<string, string> = {}
  const details: JsonObject[] = reason === undefined ? [] : [createErrorInfo(reason)]
  if (retryAfterMs !== undefined) {
    const seconds = Math.ceil(retryAfterMs / 1000)
    headers['retry-after'] = String(seconds)
    details.push({ '@type': `${RPC_TYPE_PREFIX}.RetryInfo`, retryDelay: `${seconds}s` })
  }
  if (kind === 'billing') headers['x-should-retry'] = 'false'
  if (param !== undefined)
    details.push({ '@type': `${RPC_TYPE_PREFIX}.BadRequest`, fieldViolations: [{ field: param }] })
  const body = {
    code,
    message: kind === 'context-overflow' ? writeOverflowMessage(message) : message,
    status: code === 502 ? 'UNAVAILABLE' : name,
  }
  return { status: code, headers, body: { error: details.length > 0 ? { ...body, details } : body } }
}

const RPC_TYPE_PREFIX = 'type.googleapis.com/google.rpc'
const createErrorInfo = (reason: string): JsonObject => ({
  '@type': `${RPC_TYPE_PREFIX}.ErrorInfo`,
  reason,
  domain: 'signalbox',
})

/** The error for a key whose remaining budget is too small. */
const BUDGET_STATUS = [402, 'FAILED_PRECONDITION'] as const

const responseByKind: Readonly<Record<ErrorKind, readonly [status: number, name: string]>> = {
  'bad-request': [400, 'INVALID_ARGUMENT'],
  authentication: [401, 'UNAUTHENTICATED'],
  billing: [429, 'RESOURCE_EXHAUSTED'],
  permission: [403, 'PERMISSION_DENIED'],
  'not-found': [404, 'NOT_FOUND'],
  timeout: [504, 'DEADLINE_EXCEEDED'],
  conflict: [409, 'ABORTED'],
  'too-large': [413, 'INVALID_ARGUMENT'],
  'context-overflow': [400, 'INVALID_ARGUMENT'],
  unprocessable: [400, 'INVALID_ARGUMENT'],
  'rate-limit': [429, 'RESOURCE_EXHAUSTED'],
  cancelled: [499, 'CANCELLED'],
  server: [500, 'INTERNAL'],
  overloaded: [503, 'UNAVAILABLE'],
}
