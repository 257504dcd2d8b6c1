import type { Exchange, Reply } from '../../lib/exchange.ts'
import { once } from '../../lib/promises.ts'
import type { StoreOptions } from '../../records/store.ts'
import type { Clock } from '../../types.ts'
import { type Authenticator, type CachedIdentify, copyIdentity, type Identify, type Identity } from '../identity.ts'
import type { AllowedOrigin } from './allowed-origins.ts'
import type { App } from './app.ts'
import type { KeyStore } from './authenticate-client.ts'
import { createFetchHandlers, type FetchHandlersOptions } from './fetch-bridge.ts'
import type { AccountFinder } from './identify-caller.ts'
import type { KeyAreaOptions } from './key-area.ts'

/** A gateway whose requests all run as one account. */
export interface AccountGateway {
  /** Like the gateway's `fetch`. */
  fetch(request: Request | URL | string, ...platform: unknown[]): Promise<Response>
  /** Like the gateway's `handle`. */
  handle(request: Request, ...platform: unknown[]): Promise<Response | undefined>
  /** Like the gateway's `exchange`, for framework adapters. */
  exchange(exchange: Exchange): Promise<Reply | undefined>
  matches(request: Request | URL | string): boolean
  notFound(exchange: Exchange): Reply
  readonly basePath: string
  readonly hasFixedAccount: true
}

interface AccountGatewayOptions {
  app: App
  basePath: string
  handlers: FetchHandlersOptions
}

/** Creates a gateway's `as` method, which throws a TypeError if the identity is invalid. */
export function createAsMethod({
  app,
  basePath,
  handlers,
}: AccountGatewayOptions): (identity: Identity) => AccountGateway {
  return (identity) => {
    const identityCopy = copyIdentity(identity)
    const authenticator: Authenticator = { identify: () => identityCopy }
    const exchange = (request: Exchange) => app(request, authenticator)
    const { fetch, handle, matches } = createFetchHandlers(exchange, handlers)
    return { fetch, handle, exchange, matches, notFound: handlers.notFound, basePath, hasFixedAccount: true }
  }
}

/** Internal inputs for creating a gateway, in addition to its options. */
export interface Internals extends Pick<StoreOptions, 'digestsSha256'>, Pick<KeyAreaOptions, 'onCallerIdentified'> {
  accounts?(): Promise<AccountFinder>
}

interface IdentityDependencies {
  options: {
    readonly identify?: Identify | CachedIdentify
    readonly publicOrigin?: string
    readonly allowedOrigins?: readonly AllowedOrigin[]
  }
  keyStore: KeyStore & { clock: Clock }
  limits: { readonly identifyTimeoutMs: number }
}

/** Creates functions that find callers with your app's `identify`. Their code is lazy-loaded. */
export function createIdentityOptions(
  accounts: () => Promise<AccountFinder>,
  { options: { identify, publicOrigin, allowedOrigins = [] }, keyStore, limits }: IdentityDependencies,
): NonNullable<KeyAreaOptions['identity']> {
  const load = once(async () => {
    const [identifyModule, accountFinder] = await Promise.all([import('./identify-caller.ts'), accounts()])
    const { createIdentifyCaller, markPrivate } = identifyModule
    const options = { allowedOrigins, keyStore, timeoutMs: limits.identifyTimeoutMs, clock: keyStore.clock }
    return {
      identify: createIdentifyCaller({ identify, publicOrigin, ...options, accounts: accountFinder }),
      markPrivate,
    }
  })
  return {
    identify: async (...args) => (await load()).identify(...args),
    isDefault: identify !== undefined,
    markPrivate: async (reply) => (await load()).markPrivate(reply),
  }
}
