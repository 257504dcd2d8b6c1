import type { ErrorKind } from '../canonical/errors.ts'
import type { ErrorAnswer } from '../translator.ts'
import { type ProviderError, readProviderError } from './read.ts'
import { askedWaitMs, waitInWords } from './retry-after.ts'
import {
  isAccountRefused,
  isBudgetInUse,
  isCompactionRefused,
  isContentRefused,
  isContextOverflow,
  isInvalidKey,
  isKeyRefused,
  isMethodRefused,
  isModelDenied,
  isModelFailure,
  isOutOfCredit,
  isOverBudget,
  isPage,
  isPromptRefused,
  isQuotaExhausted,
  isServiceQuotaExceeded,
  isSpendLimit,
  isUnknownModel,
  isUnknownModelField,
  isUnknownPath,
} from './words.ts'

/** Why an attempt failed. Only `client` is the caller's own fault and is answered at once; all others may go to the next target. */
export type FailureClass =
  | 'client'
  | 'context-overflow'
  | 'format' // the target's format cannot express what the client asks for
  | 'over-budget' // the request alone costs more than the account may spend
  | 'credentials'
  | 'forbidden' // a 403 that does not show whether it is about the key or about the request
  | 'rate-limit'
  | 'server'
  | 'network'
  | 'timeout'
  | 'content'
  | 'filtered' // a content filter has ended the answer, after which the combo goes on
  | 'schema' // the answer is not JSON by the schema of the request, after which the combo goes on
  | 'model-not-found'
  | 'internal' // the gateway's own fault

/** The meaning of a provider's error for routing and for the client. */
export interface ErrorMeaning {
  /** The class of the failure, which decides its cooldown (`routing/failure-class.ts`) and whether the next target is tried. */
  class: FailureClass
  /** The kind of error that the client gets; each format has a status and a type for it. */
  error: ErrorKind
  /** When another request may succeed: at any moment, once the target has cooled down, or only after the client or the operator has acted. */
  retry: 'soon' | 'later' | 'never'
}

/** The kinds of provider errors. Each error is of one kind, which decides everything else about it. */
export type ProviderErrorKind = keyof typeof kinds

const kinds = {
  'bad-request': { class: 'client', error: 'bad-request', retry: 'never' },
  'not-found': { class: 'client', error: 'not-found', retry: 'never' }, // something that the request names
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
  'invalid-model': { class: 'model-not-found', error: 'bad-request', retry: 'never' }, // the same, with another status than 404
  'rate-limit': { class: 'rate-limit', error: 'rate-limit', retry: 'soon' },
  quota: { class: 'rate-limit', error: 'billing', retry: 'never' }, // a limit of use or of costs without a time when it ends
  timeout: { class: 'timeout', error: 'timeout', retry: 'soon' },
  'gateway-timeout': { class: 'server', error: 'timeout', retry: 'soon' },
  cancelled: { class: 'server', error: 'cancelled', retry: 'soon' }, // cancelled by a proxy that no longer waits for its server
  server: { class: 'server', error: 'server', retry: 'soon' },
  overloaded: { class: 'server', error: 'overloaded', retry: 'soon' },
  proxy: { class: 'network', error: 'server', retry: 'later' }, // a proxy before the provider asks for credentials
  'wrong-address': { class: 'content', error: 'not-found', retry: 'later' }, // not the API, but a page or a redirect
} as const satisfies Record<string, ErrorMeaning>

/** The meaning of errors of a kind. */
export const meaningOf = (kind: ProviderErrorKind): ErrorMeaning => kinds[kind]

/** An error response that has been read. */
export interface ErrorReading {
  kind: ProviderErrorKind
  error: ProviderError
  /** The wait that the provider asks for. */
  retryAfterMs: number | undefined
}

/** Reads a provider's error response, for routing and for translation alike. */
export function readErrorAnswer({ status, body, header, now }: ErrorAnswer): ErrorReading {
  const error = readProviderError(body, header('x-amzn-errortype'))
  const isWaitAsked = askedWaitMs({ header, body, now, isRateLimit: false }) !== undefined
  const kind = kindOf(status, error, isWaitAsked)
  const isRateLimit = kinds[kind].class === 'rate-limit'
  return { kind, error, retryAfterMs: askedWaitMs({ header, body, now, text: error.text, isRateLimit }) }
}

/** The kind of an error, by its status and the provider's words. A failure that the client has caused is not tried at other targets. */
export function kindOf(status: number, error: ProviderError, isWaitAsked = false): ProviderErrorKind {
  if (isOverBudget(error, status)) return 'over-budget'
  if (status === 401) return kindOfUnauthorized(error)
  if (status === 403) return kindOfForbidden(error)
  if (status === 402) return isWaitAsked || isBudgetInUse(error) ? 'rate-limit' : 'billing'
  if ((status === 400 || status === 429) && isOutOfCredit(error)) return 'billing'
  if (status === 429) return isQuotaExhausted(error) && !isWaitAsked && !namesWait(error) ? 'quota' : 'rate-limit'
  if (isServiceQuotaExceeded(error)) return 'rate-limit'
  if (status === 413 && error.codes.includes('rate_limit_exceeded')) return 'rate-limit' // Groq, of tokens in a minute
  if (OVERFLOWS.has(status) && isContextOverflow(error)) return 'context-overflow'
  if (isModelFailure(error)) return 'server'
  if (status >= 500) return kindOfServerError(status, error)
  if (status < 400) return 'wrong-address'
  return kindOfClientError(status, error)
}

const namesWait = ({ text }: ProviderError) => waitInWords(text) !== undefined

function kindOfUnauthorized(error: ProviderError): ProviderErrorKind {
  if (isModelDenied(error)) return 'unknown-model'
  if (isOutOfCredit(error)) return 'billing'
  return isAccountRefused(error) ? 'permission' : 'authentication'
}

/** A 403 may be about the prompt, the model, the account or the key; `forbidden` if its words do not show that. */
function kindOfForbidden(error: ProviderError): ProviderErrorKind {
  if (isContentRefused(error)) return 'content-refused'
  if (isModelDenied(error)) return 'unknown-model'
  if (isOutOfCredit(error) || (isQuotaExhausted(error) && !isPromptRefused(error))) return 'billing'
  if (isKeyRefused(error)) return 'permission'
  return isPromptRefused(error) ? 'content-refused' : 'forbidden'
}

/** Anthropic's type is more specific than the status, but a status of the server is never the client's fault. */
function kindOfServerError(status: number, { type = '' }: ProviderError): ProviderErrorKind {
  const typed = kindByType.get(type)
  return typed && kinds[typed].class !== 'client' ? typed : kindOfStatus(status)
}

function kindOfClientError(status: number, error: ProviderError): ProviderErrorKind {
  if ((status === 400 || status === 422) && isInvalidKey(error)) return 'authentication'
  if ((status === 400 || status === 412) && isAccountRefused(error)) return 'permission'
  if (status === 400 && isSpendLimit(error)) return 'quota'
  const isStatusOfServer = kinds[kindOfStatus(status)].class !== 'client'
  if (isStatusOfServer) return kindOfStatus(status)
  if (status === 404 && (isUnknownModel(error) || isUnknownModelField(error))) return 'unknown-model'
  if (isUnknownModel(error)) return 'invalid-model'
  if ((status === 405 && isMethodRefused(error)) || (status === 400 && isPage(error))) return 'wrong-address'
  if (status === 404 && isUnknownPath(error)) return 'wrong-address'
  return (status === 400 && kindByType.get(error.type ?? '')) || kindOfStatus(status)
}

/** The statuses by which servers refuse a prompt that is too long; some send the status of a server error. */
const OVERFLOWS: ReadonlySet<number> = new Set([400, 413, 422, 500])

/** Anthropic's types that are more specific than "bad request" and "server". */
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

/** The kind of an error if only its status is known. */
export function kindOfStatus(status: number): ProviderErrorKind {
  return kindByStatus[status] ?? (status >= 500 ? 'server' : 'bad-request')
}

const kindByStatus: Readonly<Record<number, ProviderErrorKind>> = {
  401: 'authentication',
  402: 'billing',
  403: 'permission',
  404: 'not-found',
  407: 'proxy',
  408: 'timeout', // of the request; a 504 is the provider's own trouble
  409: 'conflict',
  413: 'too-large',
  422: 'unprocessable',
  424: 'server', // generation has failed (Text Generation Inference)
  425: 'server', // too early
  429: 'rate-limit',
  432: 'billing', // the limit of a plan, and of what is paid as one goes (Tavily)
  433: 'billing',
  498: 'server', // no capacity (Groq)
  499: 'cancelled',
  503: 'overloaded',
  504: 'gateway-timeout',
  529: 'overloaded',
}

/** The status of an error in a 200 or in a stream: the words decide if its code stands for none, or for a fault of the server. */
export function statusInWords(status: number, error: ProviderError): number {
  if (isContextOverflow(error)) return 400
  if (status < 500) return status
  if (isOverBudget(error, status)) return 402
  if (isContentRefused(error)) return 400
  return isOutOfCredit(error) || isQuotaExhausted(error) ? 429 : status
}

/** Does the status of a request to count or to compact mean that the provider has no endpoint for it? Most compatible vendors have none. */
export const isEndpointMissing = (status: number): boolean => status === 404 || status === 405 || status === 501

/** Does the provider not compact conversations, or not with this model? An unknown model is another failure. */
export function lacksCompaction(status: number, body: unknown): boolean {
  const error = readProviderError(body)
  if (isEndpointMissing(status)) return !isUnknownModel(error)
  return (status === 400 || status === 422) && isCompactionRefused(error)
}
