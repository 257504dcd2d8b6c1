import { isObject, type JsonObject } from '../lib/json.ts'
import type { EmbeddedError } from './format.ts'

/** HTTP statuses by the words that providers put into error objects (wire-formats: errors seen inside answers of status 200). */
const statusByWord: Record<string, number> = {
  authentication_error: 401,
  invalid_api_key: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  invalid_request_error: 400,
  context_length_exceeded: 400,
  invalid_prompt: 400,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  timeout_error: 504,
  overloaded_error: 529,
}

/** Any vendor's error object or text as an error with a status; 502 when it names none. */
export function embeddedError(error: unknown): EmbeddedError | undefined {
  if (!error) return undefined
  if (!isObject(error)) return { message: String(error), status: 502, error }
  const message =
    typeof error.message === 'string' ? error.message : 'The provider reported an error without a message.'
  return { message, status: statusOf(error), error }
}

function statusOf(error: { [name: string]: unknown }): number {
  for (const field of [error.status, error.code, error.type]) {
    const status = typeof field === 'string' ? (statusByWord[field] ?? Number(field)) : field
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) return status
  }
  return 502
}

/** Message and code out of the error envelopes that vendors really send; the message of plain text is that text. */
export function readVendorError(body: unknown): { message?: string; code?: string } {
  const envelope = Array.isArray(body) ? body[0] : body
  if (!isObject(envelope)) return text('message', plainText(envelope))
  const { error } = envelope
  if (isObject(error)) return { ...text('message', error.message), ...text('code', wordIn(error)) }
  const message = typeof error === 'string' ? error : (envelope.message ?? detailIn(envelope.detail))
  return { ...text('message', message), ...text('code', wordIn(envelope)) }
}

/** FastAPI's: a sentence, or a list of what is wrong where, beside which it repeats the request. */
function detailIn(detail: unknown): unknown {
  if (!Array.isArray(detail)) return detail
  return detail
    .filter(isObject)
    .map(({ loc, msg }) => (Array.isArray(loc) ? `${loc.join('.')}: ${msg}` : msg))
    .join('; ')
}

/** What kind of error it is, in a word; some have a status in the place of one. */
const wordIn = ({ code, error_type, type, status }: JsonObject): string | undefined =>
  [code, error_type, type, status].find((word): word is string => typeof word === 'string' && word !== '')

const text = <K extends string>(name: K, value: unknown): { [P in K]?: string } => {
  const found: { [P in K]?: string } = {}
  if (typeof value === 'string' && value !== '') found[name] = value
  return found
}

/** Text that is worth showing: not a page of HTML, and not all of it. */
function plainText(body: unknown): string | undefined {
  if (typeof body !== 'string' || body.trim() === '' || body.trimStart().startsWith('<')) return undefined
  return body.length > MAX_TEXT ? `${body.slice(0, MAX_TEXT)}…` : body
}

const MAX_TEXT = 500
