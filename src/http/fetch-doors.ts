import { isObject } from '../lib/json.ts'
import { elsewhereReply } from './elsewhere.ts'
import { exchangeOf, type FetchContext, requestOf, responseOf } from './fetch-bridge.ts'
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
  onError(error: unknown): void
}

/** Makes the ways in to what `answer` serves. */
export function createFetchDoors(answer: Surface, { basePath, begin, onError }: FetchDoorsOptions): FetchDoors {
  /** For a request whose path is not known. */
  const unaddressed = (error: unknown) => responseOf(managementErrorReply(error, onError))

  return {
    async gateway(request, ...platform) {
      const asked = requestOf(request, platform[0])
      try {
        const exchange = exchangeOf(asked, contextOf(platform))
        if (begin) await begin()
        return responseOf((await answer(exchange)) ?? elsewhereReply(exchange, basePath))
      } catch (error) {
        return unaddressed(error)
      }
    },

    async handle(request, ...platform) {
      try {
        const exchange = exchangeOf(request, contextOf(platform))
        if (begin) await begin()
        const reply = await answer(exchange)
        return reply && responseOf(reply)
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
function contextOf(platform: unknown[]): FetchContext | undefined {
  return platform.find((part): part is FetchContext => isObject(part) && typeof part.waitUntil === 'function')
}
