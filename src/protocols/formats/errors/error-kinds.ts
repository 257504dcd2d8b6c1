import type { ErrorKind } from '../canonical/canonical-errors.ts'
import { isEndpointMissing } from '../model-operations.ts'
import type { ErrorResponse } from '../translator.ts'
import {
  isAccountRejected,
  isBudgetInUse,
  isCompactionRejected,
  isContentRejected,
  isContextOverflow,
  isInvalidKey,
  isKeyRejected,
  isMethodRejected,
  isModelDenied,
  isModelFailure,
  isModelLimit,
  isOutOfCredit,
  isOverBudget,
  isPromptRejected,
  isQuotaExhausted,
  isServiceQuotaExceeded,
  isSpendLimit,
  isUnknownModel,
  isUnknownModelField,
  isUnknownPath,
  isWebPage,
} from './error-words.ts'
import { type ProviderError, readProviderError } from './read-error.ts'
import { parseWait, readWaitMs } from './retry-after.ts'

/**
 * Why an attempt failed. Only `client` is the caller's own fault and ends the request. After any other class, the gateway may try the next target.
 */
export type FailureClass =
  | 'client'
  | 'context-overflow'
  | 'format' // the target's format doesn't support the request
  | 'over-budget' // this single request exceeds the account's budget
  | 'credentials'
  | 'forbidden' // a 403 that could be about the key or the request
  | 'rate-limit'
  | 'server'
  | 'network'
  | 'timeout'
  | 'content'
  | 'unwanted' // one of the combo's functions rejected the response, and the combo tries the next model
  | 'filtered' // a content filter cut off the response, and the combo tries the next model
  | 'schema' // the response doesn't match the request's schema, and the combo tries the next model
  | 'model-not-found'
  | 'internal' // a gateway error

/** The meaning of a provider's error, for routing and for the client. */
export interface ErrorMeaning {
  /** Determines the cooldown (`request/routing/failure-class.ts`) and whether to try the next target. */
  class: FailureClass
  /** The kind of error for the client. Each format maps it to a status and a type. */
  error: ErrorKind
  /** When another request may succeed: at any time, after the target's cooldown, or only after the client or the operator has acted. */
  retry: 'soon' | 'later' | 'never'
}

/** The kinds of provider errors. The kind determines everything else about an error. */
export type ProviderErrorKind = keyof typeof meaningByKind

const meaningByKind = {
  'bad-request': { class: 'client', error: 'bad-request', retry: 'never' },
  'not-found': { class: 'client', error: 'not-found', retry: 'never' }, // something that the request refers to wasn't found
  conflict: { class: 'client', error: 'conflict', retry: 'never' },
  'too-large': { class: 'client', error: 'too-large', retry: 'never' },
  unprocessable: { class: 'client', error: 'unprocessable', retry: 'never' },
  'content-refused': { class: 'client', error: 'permission', retry: 'never' },
  'context-overflow': { class: 'context-overflow', error: 'context-overflow', retry: 'never' },
  'over-budget': { class: 'over-budget', error: 'billing', retry: 'never' },
  authentication: { class: 'credentials', error: 'authentication', retry: 'never' },
  billing: { class: 'credentials', error: 'billing', retry: 'never' },
  permission: { class: 'credentials', error: 'permission', retry: 'never' },
  forbidden: { class: 'forbidden', error: 'permission', retry: 'never' },
  'unknown-model': { class: 'model-not-found', error: 'not-found', retry: 'never' },
  'invalid-model': { class: 'model-not-found', error: 'bad-request', retry: 'never' }, // the model wasn't found, but the status isn't 404
  'rate-limit': { class: 'rate-limit', error: 'rate-limit', retry: 'soon' },
  quota: { class: 'rate-limit', error: 'billing', retry: 'never' }, // a usage or spending limit without a known end
  timeout: { class: 'timeout', error: 'timeout', retry: 'soon' },
  'gateway-timeout': { class: 'server', error: 'timeout', retry: 'soon' },
  cancelled: { class: 'server', error: 'cancelled', retry: 'soon' }, // a proxy gave up waiting for its server
  server: { class: 'server', error: 'server', retry: 'soon' },
  overloaded: { class: 'server', error: 'overloaded', retry: 'soon' },
  proxy: { class: 'network', error: 'server', retry: 'later' }, // a proxy in front of the provider requires credentials
  'wrong-address': { class: 'content', error: 'not-found', retry: 'later' }, // a web page or a redirect instead of the API
} as const satisfies Record<string, ErrorMeaning>

export const getErrorMeaning = (kind: ProviderErrorKind): ErrorMeaning => meaningByKind[kind]

export interface ParsedError {
  kind: ProviderErrorKind
  /** The response status, or the one that its error implies: a 5xx from a router may quote an error about the request. */
  status: number
  error: ProviderError
  /** The wait that the provider requests. */
  retryAfterMs: number | undefined
}

/** Reads a provider's error response, for both routing and translation. */
export function readErrorResponse({ status: responseStatus, body, header, nowMs }: ErrorResponse): ParsedError {
  const error = readProviderError(body, header('x-amzn-errortype'))
  const status = error.isSecondHand && responseStatus >= 500 ? resolveStatus(responseStatus, error) : responseStatus
  const requestsWait = readWaitMs({ header, body, nowMs, isRateLimit: false }) !== undefined
  const kind = classifyError(status, error, requestsWait)
  const isRateLimit = meaningByKind[kind].class === 'rate-limit'
  return { kind, status, error, retryAfterMs: readWaitMs({ header, body, nowMs, text: error.text, isRateLimit }) }
}

/** Returns whether the error affects only this model. Some rate limits do. */
export const isModelSpecific = ({ kind, error }: ParsedError): boolean =>
  meaningByKind[kind].class === 'rate-limit' && isModelLimit(error)

/** Classifies an error by its status and the provider's wording. An error that the client caused isn't retried at other targets. */
export function classifyError(status: number, error: ProviderError, requestsWait = false): ProviderErrorKind {
  if (isOverBudget(error, status)) return 'over-budget'
  if (status === 401) return classifyUnauthorized(error)
  if (status === 403) return classifyForbidden(error)
  if (status === 402) return requestsWait || isBudgetInUse(error) ? 'rate-limit' : 'billing'
  if ((status === 400 || status === 429) && isOutOfCredit(error)) return 'billing'
  if (status === 429)
    return isQuotaExhausted(error) && !requestsWait && parseWait(error.text) === undefined ? 'quota' : 'rate-limit'
  if (isServiceQuotaExceeded(error)) return 'rate-limit'
  if (status === 413 && error.codes.includes('rate_limit_exceeded')) return 'rate-limit' // Groq, for tokens per minute
  if (OVERFLOW_STATUSES.has(status) && isContextOverflow(error)) return 'context-overflow'
  if (isModelFailure(error)) return 'server'
  if (status >= 500) return classifyServerError(status, error)
  if (status < 400) return 'wrong-address'
  return classifyClientError(status, error)
}

function classifyUnauthorized(error: ProviderError): ProviderErrorKind {
  if (isModelDenied(error)) return 'unknown-model'
  if (isOutOfCredit(error)) return 'billing'
  return isAccountRejected(error) ? 'permission' : 'authentication'
}

/** Classifies a 403, which may be about the prompt, the model, the account, or the key. It is `forbidden` if the error doesn't say which. */
function classifyForbidden(error: ProviderError): ProviderErrorKind {
  if (isContentRejected(error)) return 'content-refused'
  if (isModelDenied(error)) return 'unknown-model'
  if (isOutOfCredit(error) || (isQuotaExhausted(error) && !isPromptRejected(error))) return 'billing'
  if (isKeyRejected(error)) return 'permission'
  return isPromptRejected(error) ? 'content-refused' : 'forbidden'
}

/** Classifies a server error. Anthropic's type is more specific than the status, but a server status is never the client's fault. */
function classifyServerError(status: number, { type = '' }: ProviderError): ProviderErrorKind {
  const kindOfType = kindByType.get(type)
  return kindOfType && meaningByKind[kindOfType].class !== 'client' ? kindOfType : classifyStatus(status)
}

function classifyClientError(status: number, error: ProviderError): ProviderErrorKind {
  if ((status === 400 || status === 422) && isInvalidKey(error)) return 'authentication'
  if ((status === 400 || status === 412) && isAccountRejected(error)) return 'permission'
  if (status === 400 && isSpendLimit(error)) return 'quota'
  const isServerStatus = meaningByKind[classifyStatus(status)].class !== 'client'
  if (isServerStatus) return classifyStatus(status)
  if (status === 404 && (isUnknownModel(error) || isUnknownModelField(error))) return 'unknown-model'
  if (isUnknownModel(error)) return 'invalid-model'
  if ((status === 405 && isMethodRejected(error)) || (status === 400 && isWebPage(error))) return 'wrong-address'
  if (status === 404 && isUnknownPath(error)) return 'wrong-address'
  return (status === 400 && kindByType.get(error.type ?? '')) || classifyStatus(status)
}

/** The statuses with which servers reject a prompt that is too long. Some send a server error. */
const OVERFLOW_STATUSES: ReadonlySet<number> = new Set([400, 413, 422, 500])

const kindByType: ReadonlyMap<string, ProviderErrorKind> = new Map<string, ProviderErrorKind>([
  ['authentication_error', 'authentication'],
  ['billing_error', 'billing'],
  ['permission_error', 'permission'],
  ['not_found_error', 'not-found'],
  ['conflict_error', 'conflict'],
  ['request_too_large', 'too-large'],
  ['rate_limit_error', 'rate-limit'],
  ['timeout_error', 'gateway-timeout'],
  ['overloaded_error', 'overloaded'],
])

/** Classifies an error by its status only. */
export function classifyStatus(status: number): ProviderErrorKind {
  return kindByStatus[status] ?? (status >= 500 ? 'server' : 'bad-request')
}

const kindByStatus: Readonly<Record<number, ProviderErrorKind>> = {
  401: 'authentication',
  402: 'billing',
  403: 'permission',
  404: 'not-found',
  407: 'proxy',
  408: 'timeout', // timed out while receiving the request; a 504 is the provider's own timeout
  409: 'conflict',
  413: 'too-large',
  422: 'unprocessable',
  424: 'server', // generation failed (Text Generation Inference)
  425: 'server', // Too Early
  429: 'rate-limit',
  432: 'billing', // a plan limit or pay-as-you-go limit (Tavily)
  433: 'billing',
  498: 'server', // no capacity (Groq)
  499: 'cancelled',
  503: 'overloaded',
  504: 'gateway-timeout',
  529: 'overloaded',
}

/** Resolves the status of an error in a 200 response or a stream. If the code implies no status or a server error, the message determines it. */
export function resolveStatus(status: number, error: ProviderError): number {
  if (isContextOverflow(error)) return 400
  if (status < 500) return status
  if (isOverBudget(error, status)) return 402
  if (isContentRejected(error)) return 400
  return isOutOfCredit(error) || isQuotaExhausted(error) ? 429 : status
}

/** Returns whether the provider or this model doesn't support compaction. An unknown model is a different failure. */
export function lacksCompaction(status: number, body: unknown): boolean {
  const error = readProviderError(body)
  if (isEndpointMissing(status)) return !isUnknownModel(error)
  return (status === 400 || status === 422) && isCompactionRejected(error)
}
