import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'

/** A provider's error: its message and code for the client, and the parts that decide on its kind. */
export interface ProviderError {
  /** Absent where the body has none: a page of HTML, an object of another form. */
  message?: string
  /** The first that the body has; some vendors put it into `type` or `status`. */
  code?: string
  /** The beginning of the message without quoted text, which may repeat the request. */
  text: string
  /** All codes, types and reasons in the body. */
  codes: readonly string[]
  /** Does a router quote the error of another provider? Then the error is about the router's account there, not the user's. */
  isSecondHand?: boolean
  /** The ids of violated quotas (Google). */
  quotas: readonly string[]
  /** The field of the request that the error is about. */
  param?: string
  /** The type in an envelope of Anthropic, which may be more specific than the status. */
  type?: string
}

/**
 * Reads an error body of a vendor: nested, flat, in an array, quoted by a router, or plain text. `header`: the header in which AWS sends a
 * code, followed by an address.
 */
export function readProviderError(body: unknown, header = ''): ProviderError {
  const error = readBody(body)
  const [code = ''] = header.split(':')
  return code === '' ? error : { ...error, codes: [...error.codes, code] }
}

/** The message and the code for the client. */
export function readMessage(body: unknown): Pick<ProviderError, 'message' | 'code'> {
  const { message, code } = readBody(body)
  return { ...member('message', message), ...member('code', code) }
}

function readBody(body: unknown): ProviderError {
  const envelope = Array.isArray(body) ? body[0] : body
  if (!isObject(envelope)) {
    const text = typeof body === 'string' ? unquoted(body) : ''
    return { text, codes: [], quotas: [], ...member('message', plainText(envelope)) }
  }
  const { error, message, Message, detail, code, type, error_type } = envelope
  if (!isObject(error)) {
    const text = [error, message, Message, detail, isObject(detail) ? detail.error : undefined].find(isText) ?? ''
    const codes = [code, type, error_type].filter(isText)
    return {
      ...(quotedError(text) ?? { text: unquoted(text), codes, quotas: [], ...paramOf(envelope) }),
      ...member('message', typeof error === 'string' ? error : detailText(message ?? detail)),
      ...member('code', codeIn(envelope)),
    }
  }
  const raw = isObject(error.metadata) && isText(error.metadata.raw) ? error.metadata.raw : ''
  const text = [error.message, error.detail].find(isText) ?? '' // Brave's `detail`
  const quoted = quotedError(text) ?? quotedError(raw)
  return {
    text: quoted?.text || unquoted(`${text}${raw === '' || quoted ? '' : `\n${raw}`}`),
    codes: [...codesIn(error), ...(quoted?.codes ?? [])],
    quotas: quotasIn(error),
    ...paramOf(error),
    ...(envelope.type === 'error' && member('type', error.type)),
    ...(raw !== '' && { isSecondHand: true }),
    ...member('message', error.message ?? error.detail),
    ...member('code', codeIn(error)),
  }
}

/** The error of another provider that a router or proxy quotes as JSON text. Its message is the text, of which clients get all. */
function quotedError(text: string): ProviderError | undefined {
  const json = text.startsWith('{') ? tryParseJson(text) : undefined
  if (!isObject(json)) return undefined
  const { message: _, code: __, ...parts } = readBody(json)
  return parts
}

/** A message, or FastAPI's `detail`, a list of errors with their locations. The request that the list repeats is left out. */
function detailText(message: unknown): unknown {
  const detail = isObject(message) ? (message.detail ?? message.error) : message // Mistral; Tavily
  if (!Array.isArray(detail)) return detail
  return detail
    .filter(isObject)
    .map(({ loc, msg }) => (Array.isArray(loc) ? `${loc.join('.')}: ${msg}` : msg))
    .join('; ')
}

const codeIn = ({ code, error_type, type, status }: JsonObject): string | undefined =>
  [code, error_type, type, status].find((word): word is string => typeof word === 'string' && word !== '')

const member = <K extends string>(name: K, value: unknown): { [P in K]?: string } => {
  const found: { [P in K]?: string } = {}
  if (typeof value === 'string' && value !== '') found[name] = value
  return found
}

/** Plain text, shortened; `undefined` for a page of HTML and for text without words, such as `{}`. */
function plainText(body: unknown): string | undefined {
  if (typeof body !== 'string' || !WORDS.test(body) || body.trimStart().startsWith('<')) return undefined
  if (body.trim() === 'null') return undefined
  return body.length > MAX_TEXT ? `${body.slice(0, MAX_TEXT)}…` : body
}

const MAX_TEXT = 500

const WORDS = /[\p{L}\p{N}]/u

function codesIn({ code, type, status, error_type, details, innererror, metadata }: JsonObject): string[] {
  const fine = isObject(details) ? [details.error_code] : detailsIn(details).map(({ reason }) => reason)
  const azure = isObject(innererror) ? innererror.code : undefined
  const routed = isObject(metadata) ? [metadata.limit_source, metadata.reason] : []
  const moderated = isObject(metadata) && isFlagged(metadata) ? FLAGGED : undefined
  return [code, type, status, error_type, ...fine, azure, ...routed, moderated].filter(isText)
}

const paramOf = ({ param }: JsonObject) => (isText(param) ? { param } : undefined)

/** Has OpenRouter's moderation flagged the request? Its errors have no code. */
const isFlagged = ({ reasons, flagged_input }: JsonObject) =>
  isText(flagged_input) || (Array.isArray(reasons) && reasons.length > 0)

const FLAGGED = 'flagged_input'

const quotasIn = ({ details }: JsonObject) =>
  detailsIn(details)
    .flatMap(({ violations }) => (Array.isArray(violations) ? violations : []))
    .map((violation: unknown) => (isObject(violation) ? violation.quotaId : undefined))
    .filter(isText)

const detailsIn = (details: unknown): JsonObject[] => (Array.isArray(details) ? details.filter(isObject) : [])

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** The message without quoted text; an open quote extends to the end. */
const unquoted = (message: string) =>
  message.slice(0, MAX_READ).replace(/"[^"]*(?:"|$)|(?<!\w)'[^']*(?:'(?!\w)|$)/g, '""')

const MAX_READ = 500

/** The `error` of an envelope `{ error: { message } }`, which all client formats share; `undefined` if the body is not one. */
export function errorObjectIn(body: unknown): JsonObject | undefined {
  const error = isObject(body) ? body.error : undefined
  return isObject(error) && typeof error.message === 'string' ? error : undefined
}
