import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import { isContentRejected, isContextOverflow, isPromptRejected } from './error-words.ts'
import { findNestedErrors, type NestedError } from './nested-errors.ts'

/** A provider's error: its message and code for the client, and the parts that determine its kind. */
export interface ProviderError {
  /** Absent if the body has no message, such as an HTML page or an unknown object. */
  message?: string
  /** The first code in the body. Some vendors put it in `type` or `status`. */
  code?: string
  /** The beginning of the message, without quotations that may repeat the request. */
  text: string
  codes: readonly string[]
  /** Set if a router quotes another provider's error. In that case, the error concerns the router's account at that provider, not the user's. */
  isSecondHand?: boolean
  /** The IDs of violated quotas (Google). */
  quotaIds: readonly string[]
  /** The request field that the error is about. */
  param?: string
  /** The type in an Anthropic error, which may be more specific than the status. */
  type?: string
}

/**
 * Reads a vendor's error body: nested, flat, in an array, quoted by a router, or plain text. `header` is AWS's error header, which contains a code
 * and a URL.
 */
export function readProviderError(body: unknown, header = ''): ProviderError {
  const error = readErrorBody(body)
  const [code = ''] = header.split(':')
  return code === '' ? error : { ...error, codes: [...error.codes, code] }
}

/** Reads the message and the code for the client. */
export function readMessage(body: unknown): Pick<ProviderError, 'message' | 'code'> {
  const { message, code } = readErrorBody(body)
  return { ...toOptionalField('message', message), ...toOptionalField('code', code) }
}

function readErrorBody(body: unknown): ProviderError {
  const error = readOuterError(body)
  const { message = '', text, codes } = error
  if (isAboutRequest({ text: removeQuotes(message), codes: [], quotaIds: [] })) return error // the outer message is clear on its own
  const nestedErrors = findNestedErrors(body)
    .map(({ message, codes }): NestedError & ProviderError => ({
      message,
      codes,
      text: removeQuotes(message),
      quotaIds: [],
    }))
    .filter(({ codes, ...rest }) => isAboutRequest({ ...rest, codes }))
  const reason = nestedErrors.find(isContextOverflow) ?? nestedErrors[0]
  if (!reason) return error
  const code = isContextOverflow(reason) ? 'context_length_exceeded' : 'content_filter'
  return {
    ...error,
    text: `${text}\n${reason.text}`,
    codes: [...codes, ...reason.codes, code],
    isSecondHand: true,
    message: joinReason(
      message,
      reason.message || (nestedErrors.find((nestedError) => nestedError.message !== '')?.message ?? ''),
    ),
  }
}

/** Returns whether the error is about the request, regardless of the provider: the prompt is too long, or its content was rejected. */
export const isAboutRequest = (error: ProviderError): boolean =>
  isContextOverflow(error) || isContentRejected(error) || isPromptRejected(error)

/**
 * Appends the quoted message to the router's own. Drops the router's message if it is only JSON, and drops the quoted message if the router's message
 * contains it.
 */
function joinReason(message: string, reason: string): string {
  if (reason === '' || message.includes(reason)) return message
  return message === '' || /^\s*[{[]/.test(message) ? reason : `${message.trimEnd().replace(/[.:]$/, '')}: ${reason}`
}

/** Reads the error itself, ignoring the errors that it quotes in other fields. */
function readOuterError(body: unknown): ProviderError {
  const envelope = Array.isArray(body) ? body[0] : body
  if (!isObject(envelope)) {
    const text = typeof body === 'string' ? removeQuotes(body) : ''
    return { text, codes: [], quotaIds: [], ...toOptionalField('message', toPlainText(envelope)) }
  }
  const { error, message, Message, detail, code, type, error_type } = envelope
  if (!isObject(error)) {
    const nestedDetail = isObject(detail) ? detail : {} // Tavily's and ElevenLabs's format
    const detailText = Array.isArray(detail) ? readDetail(detail) : undefined // FastAPI's format
    const text =
      [error, message, Message, detail, nestedDetail.error, nestedDetail.message, detailText].find(isNonemptyString) ??
      ''
    const codes = [code, type, error_type, nestedDetail.status].filter(isNonemptyString)
    return {
      ...(parseQuotedError(text) ?? { text: removeQuotes(text), codes, quotaIds: [], ...readParam(envelope) }),
      ...toOptionalField('message', typeof error === 'string' ? error : readDetail(message ?? detail)),
      ...toOptionalField('code', getCode(envelope)),
    }
  }
  const rawError = isObject(error.metadata) && isNonemptyString(error.metadata.raw) ? error.metadata.raw : ''
  const text = [error.message, error.detail].find(isNonemptyString) ?? '' // Brave's `detail`
  const quotedError = parseQuotedError(text) ?? parseQuotedError(rawError)
  return {
    text: quotedError?.text || removeQuotes(`${text}${rawError === '' || quotedError ? '' : `\n${rawError}`}`),
    codes: [...listCodes(error), ...(quotedError?.codes ?? [])],
    quotaIds: listQuotas(error),
    ...readParam(error),
    ...(envelope.type === 'error' && toOptionalField('type', error.type)),
    ...(rawError !== '' && { isSecondHand: true }),
    ...toOptionalField('message', error.message ?? error.detail),
    ...toOptionalField('code', getCode(error)),
  }
}

/** Reads another provider's error that a router or proxy quotes as JSON text. Its message is the entire text, which clients get. */
function parseQuotedError(text: string): ProviderError | undefined {
  const json = text.startsWith('{') ? tryParseJson(text) : undefined
  if (!isObject(json)) return undefined
  const { message: _, code: __, ...parts } = readErrorBody(json)
  return parts
}

/** Reads a message, or FastAPI's `detail`, which is a list of errors with their locations. Omits the request content that the list repeats. */
function readDetail(message: unknown): unknown {
  const detail = isObject(message) ? (message.detail ?? message.error ?? message.message) : message // the formats of Mistral, Tavily, and ElevenLabs
  if (!Array.isArray(detail)) return detail
  return detail
    .filter(isObject)
    .map(({ loc, msg }) => (Array.isArray(loc) ? `${loc.join('.')}: ${msg}` : msg))
    .join('; ')
}

const getCode = ({ code, error_type, type, status }: JsonObject): string | undefined =>
  [code, error_type, type, status].find(
    (candidate): candidate is string => typeof candidate === 'string' && candidate !== '',
  )

const toOptionalField = <K extends string>(name: K, value: unknown): { [P in K]?: string } => {
  const optionalField: { [P in K]?: string } = {}
  if (typeof value === 'string' && value !== '') optionalField[name] = value
  return optionalField
}

/** Shortens plain text. Returns `undefined` for an HTML page and for text that contains no words, such as `{}`. */
function toPlainText(body: unknown): string | undefined {
  if (typeof body !== 'string' || !WORD_CHARACTER_PATTERN.test(body) || body.trimStart().startsWith('<'))
    return undefined
  if (body.trim() === 'null') return undefined
  return body.length > MAX_TEXT_LENGTH ? `${body.slice(0, MAX_TEXT_LENGTH)}…` : body
}

const MAX_TEXT_LENGTH = 500

const WORD_CHARACTER_PATTERN = /[\p{L}\p{N}]/u

function listCodes({ code, type, status, error_type, details, innererror, metadata }: JsonObject): string[] {
  const detailCodes = isObject(details) ? [details.error_code] : listDetails(details).map(({ reason }) => reason)
  const azureCode = isObject(innererror) ? innererror.code : undefined
  const routerCodes = isObject(metadata) ? [metadata.limit_source, metadata.reason] : []
  const moderationCode = isObject(metadata) && isFlaggedByModeration(metadata) ? FLAGGED_FIELD : undefined
  return [code, type, status, error_type, ...detailCodes, azureCode, ...routerCodes, moderationCode].filter(
    isNonemptyString,
  )
}

const readParam = ({ param }: JsonObject) => (isNonemptyString(param) ? { param } : undefined)

/** Returns whether OpenRouter's moderation flagged the request. Its errors have no code. */
const isFlaggedByModeration = ({ reasons, flagged_input }: JsonObject) =>
  isNonemptyString(flagged_input) || (Array.isArray(reasons) && reasons.length > 0)

const FLAGGED_FIELD = 'flagged_input'

const listQuotas = ({ details }: JsonObject) =>
  listDetails(details)
    .flatMap(({ violations }) => (Array.isArray(violations) ? violations : []))
    .map((violation: unknown) => (isObject(violation) ? violation.quotaId : undefined))
    .filter(isNonemptyString)

const listDetails = (details: unknown): JsonObject[] => (Array.isArray(details) ? details.filter(isObject) : [])

const isNonemptyString = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Removes quotations from the message. An unclosed quotation extends to the end. */
const removeQuotes = (message: string) =>
  message.slice(0, MAX_SCANNED_LENGTH).replace(/"[^"]*(?:"|$)|(?<!\w)'[^']*(?:'(?!\w)|$)/g, '""')

const MAX_SCANNED_LENGTH = 500

/** An error reason that clients wouldn't recognize. */
interface HiddenReason {
  message: string
  isOverflow: boolean
}

/**
 * Finds the reason that a provider's error object hides from a format's clients. It may be a quoted error, or a prompt that is too long, described in
 * words that they wouldn't recognize. Returns `undefined` if they can read the object unchanged.
 */
export function findHiddenReason(
  error: unknown,
  reportsOverflow: (error: JsonObject) => boolean,
): HiddenReason | undefined {
  const parsedError = readErrorBody({ error })
  const isOverflow = isContextOverflow(parsedError)
  const message = parsedError.message ?? ''
  const isReadable = isObject(error) && message === error.message && !(isOverflow && !reportsOverflow(error))
  return isReadable || !(isOverflow || parsedError.isSecondHand) ? undefined : { message, isOverflow }
}

/** Returns the `error` in an envelope `{ error: { message } }`, which all client formats share. Returns `undefined` for any other body. */
export function getErrorObject(body: unknown): JsonObject | undefined {
  const error = isObject(body) ? body.error : undefined
  return isObject(error) && typeof error.message === 'string' ? error : undefined
}
