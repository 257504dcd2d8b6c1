import type { Exchange, Reply } from '../../lib/exchange.ts'
import { trimTrailing } from '../../lib/urls.ts'
import type { Authenticator } from '../identity.ts'
import { type AllowedOrigin, toAllowedOrigins } from './allowed-origins.ts'
import { type Area, findArea, getRelativePath, serveArea, withoutBody } from './area.ts'
import { getAiSdkHint, getPageHint } from './path-hints.ts'
import { createJsonReply } from './reply.ts'

/**
 * The gateway over HTTP: returns a reply, or `undefined` for a path that isn't the gateway's. `authenticator` identifies the caller in place of
 * the `identify` option. Never rejects.
 */
export type App = (exchange: Exchange, authenticator?: Authenticator) => Promise<Reply | undefined>

interface AppOptions {
  basePath: string
  /** The areas in search order. */
  areas: readonly Area[]
  /** The origins whose pages may call areas with `pageMethods`. */
  allowedOrigins: readonly AllowedOrigin[]
}

/** Creates the app, which routes each request to the area that contains its path. */
export function createApp({ basePath, areas, allowedOrigins }: AppOptions): App {
  const origins = toAllowedOrigins(allowedOrigins)
  return (exchange, authenticator) => {
    const path = getRelativePath(basePath, exchange.path)
    const area = path === undefined ? undefined : findArea(areas, path)
    if (path === undefined || !area) return NO_REPLY
    const replyPromise = serveArea(area, { exchange, path, authenticator }, origins)
    return exchange.method === 'HEAD' ? replyPromise.then(withoutBody) : replyPromise
  }
}

const NO_REPLY = Promise.resolve(undefined)

/** Returns the base path with a leading slash and without a trailing one, or `''` for the root. Throws a TypeError if it isn't a path. */
export function normalizeBasePath(basePath: string | undefined): string {
  const trimmed = trimTrailing(basePath ?? '', '/')
  if (trimmed !== '' && !/^(\/[\w.~-]+)+$/.test(trimmed)) {
    throw new TypeError(`basePath must look like "/ai", got ${JSON.stringify(basePath)}`)
  }
  return trimmed
}

/**
 * Creates the `fetch` reply for a path that isn't the gateway's: a description at the root, which tools probe, otherwise a 404 that suggests the
 * right paths.
 */
export function createNotFoundReply(
  { method, path }: Exchange,
  { basePath, areas }: { basePath: string; areas: readonly Area[] },
): Reply {
  const root = `${basePath}/v1`
  const isRoot = getRelativePath(basePath, path) === '/'
  if (isRoot && method === 'OPTIONS') return { status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } }
  const reply =
    isRoot && (method === 'GET' || method === 'HEAD')
      ? createJsonReply(200, { name: 'signalbox', baseUrl: root, models: `${root}/models` })
      : createJsonReply(404, {
          error: `Nothing is served at ${path}. ${createHint(getRelativePath(basePath, path) ?? path, { basePath, areas })}`,
        })
  return method === 'HEAD' ? { status: reply.status, headers: reply.headers } : reply
}

const createHint = (path: string, mount: { basePath: string; areas: readonly Area[] }) =>
  getAiSdkHint(path, mount.basePath) ??
  getPageHint(path, mount) ??
  `Check the base URL: model clients use ${mount.basePath}/v1, and the management API is at ${mount.basePath}/api.`
