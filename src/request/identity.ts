import { gatewayError } from '../errors.ts'
import { isAccountId } from '../lib/account-ids.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { isPlainObject, isValidInput } from '../lib/shape-problem.ts'
import { allowedKinds, allowedModels, ownerMetadata, usageLimits } from '../types/records/limit-fields.ts'
import { list, name, storedId, text } from '../types/records/shapes.ts'
import { dataTags } from '../types/records/tag-fields.ts'
import type { ClientFormat, DataTags, Kind, UsageLimits } from '../types.ts'

/** The identity that your app gives a request. Unknown fields are errors. */
export interface Identity {
  /**
   * The ID of one of your users or customers, 1 to 200 characters. Use the primary key in your database, which never changes, and not an email
   * address. Limits and usage are counted by this ID.
   */
  account: string
  /** A display name, such as for the dashboard; at most 200 characters. */
  name?: string | undefined
  /** The ID of a group of keys, which serves as the price plan. Default: the account's own plan, or `accounts.defaultPlan`. */
  plan?: string | undefined
  /** Names of the models, combos, and aliases that the account may use; `*` matches any text. Default: everything that the account's plan allows. */
  models?: readonly string[] | undefined
  /** The kinds of models that the account may use. Default: all kinds that the account's plan allows. */
  kinds?: readonly Kind[] | undefined
  /** The account's limits. They replace the limits that its plan sets for each account. */
  limits?: UsageLimits | undefined
  /**
   * Tags that connections must have to serve the account's requests, such as `{ region: 'eu' }`; at most 16. The requirements of the plan, the key,
   * and the request also apply.
   */
  require?: Readonly<DataTags> | undefined
  /** Your own strings by name, at most 16: names up to 64 characters, values up to 512. */
  metadata?: Readonly<Record<string, string>> | undefined
  /** Labels for usage records; at most 10, of up to 64 characters. */
  tags?: readonly string[] | undefined
}

/** Rejects a request with a message. */
export interface Refusal {
  /** The message of the error, which is sent in the client's format. */
  refuse: string
  /** The HTTP status. Default: 401. */
  status?: 401 | 402 | 403 | 429 | undefined
  /** When the client may retry, in seconds, for the `retry-after` header. Clients retry only if it is set. */
  retryAfterS?: number | undefined
}

/** Facts about a request that are passed to `identify` in addition to the Fetch request. */
export interface IdentifyContext {
  /** The endpoint's path. Absent if no endpoint has this path. */
  endpoint?: string | undefined
  /** The kind of models that the endpoint supports. */
  kind?: Kind | undefined
  /** The format in which the client gets an error. */
  format: ClientFormat
  /** The same as in the response header `x-signalbox-request-id`. Absent for requests that aren't recorded, such as model lists. */
  requestId?: string | undefined
  /** Aborts when the client disconnects, or when `limits.identifyTimeoutMs` has passed. */
  signal: AbortSignal
  /**
   * Values that the platform passes with the request: Node's `IncomingMessage`, `{ env, ctx }` on Workers, or the event on Lambda. Absent if it
   * contains cookies and the request comes from an allowed origin that may not send any.
   */
  platform?: unknown
}

/**
 * Identifies the caller from a cookie, a JWT, or any other part of the request except the body, which is absent. Return `null` or a `Refusal` to
 * reject the request, and `undefined` to accept only an API key. If it throws, the client gets a 503.
 */
export type Identify = (
  request: Request,
  about: IdentifyContext,
) => Identity | Refusal | null | undefined | Promise<Identity | Refusal | null | undefined>

/** An `identify` function whose results are cached. */
export interface CachedIdentify {
  resolve: Identify
  /** Returns the text that determines the result, such as the session cookie. Return `undefined` to not cache the result. */
  cacheBy(request: Request): string | undefined
  /** How long to use a result, in ms; at most 60,000. */
  ttlMs: number
}

/** Code in this process that knows the caller, such as a framework's handler after its own authentication. */
export interface Authenticator {
  identify(about: IdentifyContext): ReturnType<Identify>
}

/** Copies an identity passed by code. Throws a TypeError with the name of the field that is unknown or invalid. */
export function copyIdentity(identity: Identity): Identity {
  try {
    return readIdentity(identity)
  } catch (error) {
    throw new TypeError(error instanceof Error ? error.message : undefined)
  }
}

/** Reads an identity. Throws `IDENTITY_INVALID` with the name of the field that is unknown or invalid, never with its value. */
export function readIdentity(value: unknown): Identity {
  if (!isPlainObject(value))
    throw createInvalidError(`It is ${describeType(value)}, not an object such as { account: user.id }.`)
  const identity = readFields(value, identityFields)
  if (identity.account === undefined) throw createInvalidError('"account" is missing.')
  return identity as unknown as Identity // `readFields` has checked each field
}

type FieldChecks = Readonly<Record<string, (value: unknown) => boolean>>

const tags = list(text({ isNonEmpty: true, max: 64 }), { items: 'entries', max: 10 })

const identityFields = {
  account: (value) => typeof value === 'string' && isAccountId(value),
  name: (value) => isValidInput(name(200), value),
  plan: (value) => isValidInput(storedId, value),
  models: (value) => isValidInput(allowedModels, value),
  kinds: (value) => isValidInput(allowedKinds, value),
  limits: (value) => isValidInput(usageLimits, value),
  require: (value) => isValidInput(dataTags, value),
  metadata: (value) => isValidInput(ownerMetadata, value),
  tags: (value) => isValidInput(tags, value),
} satisfies Record<keyof Identity, (value: unknown) => boolean>

/** Returns the fields that are set. Reads each of them once, because it may be a getter. */
export function readFields(value: JsonObject, fieldChecks: FieldChecks): JsonObject {
  const parsed: JsonObject = {}
  for (const key of Reflect.ownKeys(value)) {
    const fieldName = String(key)
    if (!Object.hasOwn(fieldChecks, fieldName))
      throw createInvalidError(`It has an unknown member ${JSON.stringify(fieldName)}.`)
    const fieldValue = value[fieldName]
    if (fieldValue === undefined) continue
    if (!fieldChecks[fieldName]?.(fieldValue)) throw createInvalidError(`${JSON.stringify(fieldName)} is not valid.`)
    parsed[fieldName] = fieldValue
  }
  return parsed
}

const describeType = (value: unknown) =>
  Array.isArray(value) ? 'an array' : `a ${isObject(value) ? 'class instance' : typeof value}`

const createInvalidError = (problem: string) =>
  gatewayError('IDENTITY_INVALID', { message: `The identity of a request is not valid. ${problem}` })
