/// <reference path="./assets.d.ts" />
import { gatewayError } from '../../errors.ts'
import type { Exchange, Reply } from '../../lib/exchange.ts'
import { once } from '../../lib/promises.ts'
import type { MountedPage } from '../../request/door/pages.ts'

export type { MountedPage } from '../../request/door/pages.ts'

/** Options for `dashboard`. */
export interface DashboardOptions {
  /** Origins that may embed the dashboard in a frame, such as `https://admin.example`. Default: none. */
  frameAncestors?: readonly string[]
}

/**
 * Serves the dashboard at `{basePath}/admin/`: `createGateway({ dashboard: dashboard() })`. Anyone can load the page, because it contains no data. It
 * calls `/api`, which the `management` option protects. Throws a TypeError if an origin is invalid.
 */
export function dashboard({ frameAncestors = [] }: DashboardOptions = {}): MountedPage {
  const policy = createPolicy(frameAncestors)
  const loadAssets = once(async () => (await import('signalbox:dashboard')).files)

  return {
    path: '/admin',
    hasFolder: true,
    async serve({ exchange, rest, guards }) {
      await guards.host(exchange)
      if (rest === '') return redirect(exchange)
      const files = await loadAssets()
      const file = Object.hasOwn(files, rest.slice(1)) ? files[rest.slice(1)] : undefined
      if (!file)
        throw gatewayError('NOT_FOUND', {
          message: `Nothing is served at ${exchange.path}. The dashboard is at …/admin/.`,
        })
      return createFileReply(exchange, file, policy)
    },
  }
}

/** A built file of the dashboard. */
export interface PageFile {
  readonly type: string
  readonly etag: string
  readonly text: string
}

/** Redirects to a relative URL, which also works behind a proxy that adds a path prefix. */
function redirect({ path, query }: Exchange): Reply {
  const folder = path.slice(path.lastIndexOf('/') + 1)
  return { status: 308, headers: { location: `${folder}/${query}`, 'cache-control': 'no-store' } }
}

function createFileReply(exchange: Exchange, { type, etag, text }: PageFile, policy: string): Reply {
  const isPage = type.startsWith('text/html')
  const headers: Record<string, string> = {
    'content-type': type,
    etag,
    // All other file names change with their content.
    'cache-control': isPage ? 'no-cache' : 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    ...(isPage && {
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    }),
  }
  if (exchange.header('if-none-match')?.includes(etag)) return { status: 304, headers }
  return { status: 200, headers, body: text }
}

/** Builds the CSP. It allows only the dashboard's own scripts and styles, and doesn't allow running strings as code or inserting them as HTML. */
function createPolicy(frameAncestors: readonly string[]): string {
  for (const origin of frameAncestors)
    if (!/^https?:\/\/[\w.:[\]-]+$/.test(origin))
      throw new TypeError(
        `dashboard: frameAncestors must be origins such as "https://admin.example", got ${JSON.stringify(origin)}.`,
      )
  const directives = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    'media-src blob:', // generated audio
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'"}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return directives.join('; ')
}
