import { gatewayError } from '../../errors.ts'
import { startDeadline } from '../../lib/deadline.ts'
import type { Reply } from '../../lib/exchange.ts'
import { isObject } from '../../lib/json.ts'
import { getSettledValue, isThenable } from '../../lib/promises.ts'
import { createClientScope, type Scope } from '../../lib/scope.ts'
import { getKeyRejection } from '../../records/key-format.ts'
import type { ClientFormat, Clock, Kind } from '../../types.ts'
import { ANONYMOUS_CALLER, type Caller, type CallerAccount, getKeyCaller } from '../caller.ts'
import { type IdentifyResult, readIdentifyResult } from '../identify-result.ts'
import type { CachedIdentify, Identify, IdentifyContext, Identity } from '../identity.ts'
import type { RequestLog, ServedRoute } from '../request-log.ts'
import { type AllowedOrigin, toAllowedOrigins } from './allowed-origins.ts'
import type { AreaRequest } from './area.ts'
import {
  checkNamedAccount,
  createUnknownKeyError,
  findAccount,
  findKey,
  type KeyStore,
  listPresentedCredentials,
} from './authenticate-client.ts'
import { getCallerFormat } from './caller-format.ts'
import { isCrossOrigin } from './foreign-page.ts'
import { IdentityCache } from './identity-cache.ts'

/** The accounts of your app's users. */
export interface AccountFinder {
  /** Returns an identity's account. Rejects with the error that the client gets, such as `ACCOUNT_PAUSED`. */
  getAccount(identity: Identity): Promise<CallerAccount>
  /** Calls `listener` with the ref of each account whose record changes, on any instance. */
  onChange(listener: (ref: string) => void): void
}

export interface IdentifyCallerOptions {
  /** The option of `createGateway`. Absent if only `gateway.as` and framework handlers identify callers. */
  identify?: Identify | CachedIdentify | undefined
  accounts: AccountFinder
  keyStore: KeyStore
  allowedOrigins: readonly AllowedOrigin[]
  publicOrigin?: string | undefined
  timeoutMs: number
  clock: Clock
}

/** A request's log and route, if it is recorded. */
export interface RequestRecording {
  log: RequestLog | undefined
  route: ServedRoute | undefined
}

/** Finds a request's caller. Rejects with the error that the client gets. */
export type IdentifyCaller = (request: AreaRequest, recording: RequestRecording) => Promise<Caller>

/** An identity, and how to cache it for the next request. */
interface ResolvedIdentity {
  result: IdentifyResult
  cacheFor?(account: CallerAccount): void
}

/**
 * Finds the callers of requests that your app identifies, before any byte of the body is read. Closed by default: a request that your app doesn't
 * recognize needs a known key, regardless of `requireApiKey`.
 */
export function createIdentifyCaller(options: IdentifyCallerOptions): IdentifyCaller {
  const { identify, accounts, keyStore, publicOrigin, timeoutMs, clock } = options
  const allowedOrigins = toAllowedOrigins(options.allowedOrigins)
  const cached = typeof identify === 'object' ? identify : undefined
  const resolve = typeof identify === 'object' ? identify.resolve : identify
  const cache = cached && new IdentityCache(clock, cached.ttlMs)
  if (cache) accounts.onChange((ref) => cache.recordChange(ref))

  async function resolveIdentity(
    { exchange, authenticator }: AreaRequest,
    callOptions: AppCallOptions,
    readsCookies: boolean,
  ): Promise<ResolvedIdentity> {
    const { context } = callOptions
    if (authenticator)
      return { result: readIdentifyResult(await callWithTimeout(() => authenticator.identify(context), callOptions)) }
    if (!resolve) return { result: undefined }
    const request = readsCookies ? exchange.toRequest() : withoutCookies(exchange.toRequest())
    const cacheInput = cached && (await callWithTimeout(() => cached.cacheBy(request), callOptions))
    if (cacheInput !== undefined && typeof cacheInput !== 'string')
      throw gatewayError('IDENTITY_INVALID', { message: '"identify.cacheBy" did not return a string or undefined.' })
    const digest = cacheInput === undefined ? undefined : await cache?.digest(cacheInput)
    const cachedIdentity = digest === undefined ? undefined : cache?.find(digest)
    if (cachedIdentity) return { result: { identity: cachedIdentity } }
    const requestVersion = cache?.version ?? 0
    const result = readIdentifyResult(await callWithTimeout(() => resolve(request, context), callOptions))
    if (digest === undefined || !result || !('identity' in result)) return { result }
    const { identity } = result
    return { result, cacheFor: ({ ref }) => cache?.save(digest, { identity, ref, version: requestVersion }) }
  }

  /** Throws `CROSS_SITE` for a change requested by another site's page, unless its origin is allowed. Returns whether cookies count. */
  function checkSite({ exchange, authenticator }: AreaRequest): boolean {
    if (exchange.actsAs) return true
    const origin = exchange.header('origin')
    const allowedOrigin = origin === undefined ? undefined : allowedOrigins.get(origin)
    if (SAFE_METHODS.has(exchange.method) && !allowedOrigin) return true // such a page can't read the response
    if (!isCrossOrigin(exchange, publicOrigin)) return true
    if (!allowedOrigin) throw createCrossSiteError()
    if (allowedOrigin.hasCredentials || exchange.header('cookie') === undefined) return true
    if (authenticator) throw createCrossSiteError() // your app has already seen the cookie
    return false
  }

  /** Returns the caller of a request that your app doesn't identify, based on its key or token. */
  async function findKeyCaller({ exchange }: AreaRequest, log: RequestLog | undefined, scope: Scope): Promise<Caller> {
    const { key, credentials, addToken } = await scope.race(findKey(exchange, keyStore))
    if (!key && !addToken)
      throw credentials.length === 0 ? createSignInError() : createUnknownKeyError(credentials, SIGN_IN_OR_KEY_MESSAGE)
    const caller = key ? getKeyCaller(key) : ANONYMOUS_CALLER
    if (log) log.client.caller = caller
    const rejection = key && getKeyRejection(key, clock.now())
    if (rejection) throw rejection
    const callerPromise = addToken ? addToken(caller) : key && findAccount(key, exchange, keyStore)
    return callerPromise ? scope.race(callerPromise) : caller
  }

  /** Returns the caller of a request with an account, including the key or token if it has one, which must belong to the same account. */
  async function addKey(account: CallerAccount, { exchange }: AreaRequest, log: RequestLog | undefined, scope: Scope) {
    const caller: Caller = { owner: account.ref, key: undefined, account }
    if (log) log.client.caller = caller
    if (exchange.actsAs || listPresentedCredentials(exchange).length === 0) return caller
    const { key, addToken } = await scope.race(findKey(exchange, keyStore))
    if (key && key.account !== account.ref) throw gatewayError('IDENTITY_CONFLICT')
    const completeCaller: Caller = key ? { ...caller, key } : caller
    if (log) log.client.caller = completeCaller
    const rejection = key && getKeyRejection(key, clock.now())
    if (rejection) throw rejection
    return addToken ? await scope.race(addToken(completeCaller)) : completeCaller
  }

  return async (request, { log, route }) => {
    const { exchange, path } = request
    const readsCookies = checkSite(request)
    const { scope, close } = log ? { scope: log.client.scope, close() {} } : createClientScope(exchange)
    try {
      const context = new RequestContext({
        endpoint: route?.path,
        kind: route?.operation.kind,
        format: route?.format ?? getCallerFormat(path, exchange).name,
        requestId: log?.id,
        platform: readsCookies ? exchange.platform : hidePlatformRequest(exchange.platform),
      })
      const { result, cacheFor } = await resolveIdentity(request, { context, scope, clock, timeoutMs }, readsCookies)
      if (result && 'rejection' in result) throw result.rejection
      const accountPromise = result && accounts.getAccount(result.identity)
      const account = accountPromise && (getSettledValue(accountPromise) ?? (await scope.race(accountPromise)))
      if (account) cacheFor?.(account)
      const caller = account ? await addKey(account, request, log, scope) : await findKeyCaller(request, log, scope)
      if (log) log.client.caller = caller
      return checkNamedAccount(exchange, caller)
    } finally {
      close()
    }
  }
}

/** Marks a reply that depends on the caller: no cache may share it, and another site's page may read it only if its origin is allowed (area.ts). */
export function markPrivate(reply: Reply): Reply {
  const { 'access-control-allow-origin': _, 'cache-control': cacheControl, ...headers } = reply.headers
  const forbidsTransform = cacheControl?.includes('no-transform') // a proxy must not compress a stream, because that would delay it
  return {
    ...reply,
    headers: {
      ...headers,
      'cache-control': forbidsTransform ? 'private, no-store, no-transform' : 'private, no-store',
      vary: 'Cookie, Authorization, Origin',
    },
  }
}

/** Methods with which a page can only read. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

const createSignInError = () =>
  gatewayError('IDENTITY_REQUIRED', {
    message: 'Sign in, or send an API key.',
    headers: { 'www-authenticate': 'Bearer' },
  })

const createCrossSiteError = () => gatewayError('CROSS_SITE', { message: FOREIGN_PAGE_MESSAGE })

const FOREIGN_PAGE_MESSAGE =
  'This request comes from a page of another site. Operators: add its origin to allowedOrigins, or set publicOrigin behind a proxy.'
const UNAVAILABLE_MESSAGE = 'The app could not tell who is asking. Retry in a moment.'

const SIGN_IN_OR_KEY_MESSAGE = 'Sign in, or send an API key. The credential in this request is not one of this gateway.'

function withoutCookies(request: Request): Request {
  const headers = new Headers(request.headers)
  headers.delete('cookie')
  return new Request(request, { headers, signal: request.signal }) // a subclass may have its own signal
}

/** Hides the platform's own request, which also contains the cookies, but not Workers bindings. */
const hidePlatformRequest = (platform: unknown) => (isObject(platform) && 'headers' in platform ? undefined : platform)

/** The request facts that are passed to `identify`. The signal is created on first use. */
class RequestContext implements IdentifyContext {
  declare readonly endpoint: string | undefined
  declare readonly kind: Kind | undefined
  declare readonly format: ClientFormat
  declare readonly requestId: string | undefined
  declare readonly platform: unknown
  #controller: AbortController | undefined = undefined
  #cancellation: { reason: unknown } | undefined = undefined

  constructor(facts: Omit<IdentifyContext, 'signal'>) {
    Object.assign(this, facts)
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#cancellation) this.#controller.abort(this.#cancellation.reason)
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    this.#cancellation ??= { reason }
    this.#controller?.abort(reason)
  }
}

interface AppCallOptions {
  context: RequestContext
  scope: Scope
  clock: Clock
  timeoutMs: number
}

/**
 * Resolves to the result of an app function. Rejects with the scope's reason when the scope ends, and with `IDENTITY_UNAVAILABLE` if the function
 * throws or takes too long.
 */
async function callWithTimeout(
  call: () => unknown,
  { context, scope, clock, timeoutMs }: AppCallOptions,
): Promise<unknown> {
  try {
    const result = call()
    if (!isThenable(result)) return result
    return await new Promise((resolve, reject) => {
      const stop = (reason: unknown) => {
        cancelDeadline()
        reject(reason)
        context.abort(reason)
      }
      const cancelDeadline = startDeadline(clock, timeoutMs, () =>
        stop(new Error(`"identify" took longer than the ${timeoutMs} ms of limits.identifyTimeoutMs.`)),
      )
      const cleanUp = () => {
        cancelDeadline()
        scope.remove(stop)
      }
      scope.add(stop)
      Promise.resolve(result).then(resolve, reject).finally(cleanUp)
    })
  } catch (cause) {
    if (scope.hasEnded) throw scope.reason
    throw gatewayError('IDENTITY_UNAVAILABLE', { message: UNAVAILABLE_MESSAGE, cause, headers: { 'retry-after': '1' } })
  }
}
