import { isObject } from '../lib/json.ts'
import type { Lookout } from '../lib/lookout.ts'
import { elsewhereReply } from './elsewhere.ts'
import { exchangeOf, type FetchContext, type FetchTerms, requestOf, responseOf } from './fetch-bridge.ts'
import { managementErrorReply } from './management-error.ts'
import { areaOf, below } from './paths.ts'
import type { Surface } from './surface.ts'

/** The ways in for Fetch requests. What goes wrong with a request is an answer. */
export interface FetchDoors {
  /** Answers also what is not the gateway's. */
  gateway(request: Request | URL | string, ...platform: unknown[]): Promise<Response>
  /** Resolves to `undefined` for what is not the gateway's. */
  handle(request: Request, ...platform: unknown[]): Promise<Response | undefined>
  /** Is the request or URL the gateway's? */
  matches(request: Request | URL | string): boolean
}

/** What the ways in depend on besides. */
export interface FetchDoorsOptions {
  basePath: string
  /** Resolves when a request may begin, where the platform is better off when many begin together. */
  begin: (() => Promise<void>) | undefined
  /** The lookout for a request that comes with this argument; `undefined` where its signal is to be listened to at once. */
  lookoutFor(platform: unknown): Lookout | undefined
  /** Does the platform read what is cancelled, or never read, for as long as it comes? Then it is held. */
  holdsRefused: boolean
  /** See `responseOf`. */
  linger: (() => Promise<void>) | undefined
  onError(error: unknown): void
}

/** Makes the ways in to what `answer` serves. */
export function createFetchDoors(
  answer: Surface,
  { basePath, begin, lookoutFor, holdsRefused, linger, onError }: FetchDoorsOptions,
): FetchDoors {
  const termsOf = (first: unknown, second: unknown): FetchTerms => ({
    context: contextIn(first) ?? contextIn(second),
    lookout: lookoutFor(first),
    holdsRefused,
  })

  /** For a request whose path is not known. */
  const unaddressed = (error: unknown) => responseOf(managementErrorReply(error, onError))

  return {
    async gateway(request, first, second) {
      const asked = requestOf(request, first)
      try {
        const exchange = exchangeOf(asked, termsOf(first, second))
        if (begin) await begin()
        return responseOf((await answer(exchange)) ?? elsewhereReply(exchange, basePath), linger)
      } catch (error) {
        return unaddressed(error)
      }
    },

    async handle(request, first, second) {
      try {
        const exchange = exchangeOf(request, termsOf(first, second))
        if (begin) await begin()
        const reply = await answer(exchange)
        return reply && responseOf(reply, linger)
      } catch (error) {
        return unaddressed(error)
      }
    },

    matches(request) {
      const url = typeof request === 'object' && 'url' in request ? request.url : request
      if (!URL.canParse(url, BASE)) return false
      const path = below(basePath, new URL(url, BASE).pathname)
      return path !== undefined && areaOf(path) !== undefined
    },
  }
}

/** For URLs that are only a path. */
const BASE = 'http://gateway'

/** The argument with `waitUntil`: Workers pass it third, other runtimes not at all. */
const contextIn = (part: unknown): FetchContext | undefined =>
  isObject(part) && typeof part.waitUntil === 'function' ? (part as FetchContext) : undefined
