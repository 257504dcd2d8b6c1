import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { CanonicalError, ErrorKind } from '../canonical/errors.ts'
import { codeOfKey, isOfKey } from '../errors/of-key.ts'
import { parseEmbeddedError, parseProviderError } from '../errors/parse.ts'
import { errorObjectIn, readMessage } from '../errors/read.ts'
import type { ErrorFacts, FormatErrors } from '../format.ts'
import type { ErrorAnswer } from '../translator.ts'

/** Errors of Gemini. */
export const geminiErrors: FormatErrors = {
  body,
  event: (error) => `data: ${JSON.stringify(body(error))}\n\n`,
  isReadable,
  isErrorEvent: ({ data }) => isReadable(tryParseJson(data)),
  /** Reads an error. Its code is the name of the status, since Google's own code is the number of the status. */
  read(body) {
    const envelope: unknown = Array.isArray(body) ? body[0] : body
    const error = isObject(envelope) && isObject(envelope.error) ? envelope.error : undefined
    return { ...readMessage(body), ...(typeof error?.status === 'string' && { code: error.status }) }
  },
  bodyOf: (error) => ({ error }),
}

/** Writes Google's envelope of an error: the numeric status, its name, and the details that programs read. */
function body({ status, code, message, retryAfter }: ErrorFacts): object {
  const name = nameOfStatus[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
  const text = code === 'CONTEXT_OVERFLOW' ? overflowMessage(message) : message
  const error = { code: status, message: text, status: name }
  if (!isOfKey(code)) return { error }
  const details: JsonObject[] = [errorInfo(code.toLowerCase())]
  if (retryAfter !== undefined) details.push({ '@type': `${RPC}.RetryInfo`, retryDelay: `${retryAfter}s` })
  return { error: { ...error, details } }
}

/** Is the body an error of Google, some of which are in an array? */
function isReadable(body: unknown): boolean {
  const envelope: unknown = Array.isArray(body) ? body[0] : body
  return typeof errorObjectIn(envelope)?.code === 'number'
}

/** Adds the words by which clients recognize an overflow. */
export const overflowMessage = (message: string): string =>
  /input token count/i.test(message)
    ? message
    : `The input token count exceeds the maximum number of tokens allowed. ${message}`

const nameOfStatus: Record<number, string> = {
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

/** Parses a provider's error response: Google's envelope, alone or in an array, or that of a proxy. */
export function parseError(answer: ErrorAnswer): CanonicalError {
  const parsed = parseProviderError(answer)
  const envelope: unknown = Array.isArray(answer.body) ? answer.body[0] : answer.body
  const error = isObject(envelope) && isObject(envelope.error) ? envelope.error : undefined
  return error ? refine(parsed, error) : parsed
}

/** Parses the error in a chunk. */
export function streamError(error: unknown): CanonicalError {
  const { status, source } = parseEmbeddedError(error)
  return { ...parseError({ status, body: { error }, header: () => undefined, now: 0 }), ...(source && { source }) }
}

/** Adds what only Google reports: the name of the status, and the field at fault. */
function refine(parsed: CanonicalError, error: JsonObject): CanonicalError {
  const details: JsonObject[] = Array.isArray(error.details) ? error.details.filter(isObject) : []
  const code = isText(error.status) ? error.status : parsed.code
  const field = fieldIn(details)
  const refined: CanonicalError = { ...parsed }
  if (code !== undefined) refined.code = code
  if (field !== undefined) refined.param = field
  return refined
}

function fieldIn(details: readonly JsonObject[]): string | undefined {
  const violations = details.flatMap(({ fieldViolations }) => (Array.isArray(fieldViolations) ? fieldViolations : []))
  return violations.map((violation: unknown) => (isObject(violation) ? violation.field : undefined)).find(isText)
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Writes an error for Google's clients; its details hold the time to wait and the field at fault. */
export function writeError(error: CanonicalError): {
  status: number
  headers: Record<string, string>
  body: JsonObject
} {
  const { kind, message, param, retryAfterMs } = error
  const reason = codeOfKey(error.code)
  const [usual, name] = reason !== undefined && kind === 'billing' ? BUDGET : responseOfKind[kind]
  const code = kind === 'server' && error.status >= 500 ? error.status : usual
  const headers: Record<string, string> = {}
  const details: JsonObject[] = reason === undefined ? [] : [errorInfo(reason)]
  if (retryAfterMs !== undefined) {
    const seconds = Math.ceil(retryAfterMs / 1000)
    headers['retry-after'] = String(seconds)
    details.push({ '@type': `${RPC}.RetryInfo`, retryDelay: `${seconds}s` })
  }
  if (kind === 'billing') headers['x-should-retry'] = 'false'
  if (param !== undefined) details.push({ '@type': `${RPC}.BadRequest`, fieldViolations: [{ field: param }] })
  const body = {
    code,
    message: kind === 'context-overflow' ? overflowMessage(message) : message,
    status: code === 502 ? 'UNAVAILABLE' : name,
  }
  return { status: code, headers, body: { error: details.length > 0 ? { ...body, details } : body } }
}

const RPC = 'type.googleapis.com/google.rpc'
const errorInfo = (reason: string): JsonObject => ({ '@type': `${RPC}.ErrorInfo`, reason, domain: 'signalbox' })

/** What is left of a budget of the client's key is too little. */
const BUDGET = [402, 'FAILED_PRECONDITION'] as const

const responseOfKind: Readonly<Record<ErrorKind, readonly [status: number, name: string]>> = {
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
