/// <reference path="./assets.d.ts" />
import { gatewayError } from '../errors.ts'
import type { MountedPage } from '../http/pages.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { once } from '../lib/promises.ts'

export type { MountedPage } from '../http/pages.ts'

/** How the dashboard is served. */
export interface DashboardOptions {
  /** The origins of pages that may show it in a frame, such as `https://admin.example`. Default: none. */
  frameAncestors?: readonly string[]
}

/**
 * The page for operators, at `{basePath}/admin/`: `createGateway({ dashboard: dashboard() })`. Anybody may load the page itself, which has no data;
 * what it shows it asks of `/api`, under the option `management`. Throws a TypeError on an origin that is none.
 */
export function dashboard({ frameAncestors = [] }: DashboardOptions = {}): MountedPage {
  const policy = policyFor(frameAncestors)
  const assets = once(async () => (await import('signalbox:dashboard')).files)

  return {
    path: '/admin',
    hasFolder: true,
    async serve({ exchange, rest, guards }) {
      await guards.host(exchange)
      if (rest === '') return redirect(exchange)
      const files = await assets()
      const file = Object.hasOwn(files, rest.slice(1)) ? files[rest.slice(1)] : undefined
      if (!file)
        throw gatewayError('NOT_FOUND', {
          message: `There is nothing at ${exchange.path}. The dashboard is at …/admin/.`,
        })
      return fileReply(exchange, file, policy)
    },
  }
}

/** A file of the page, as the build made it. */
export interface PageFile {
  readonly type: string
  /** With its quotes. */
  readonly etag: string
  readonly text: string
}

/** Relative, so that it holds below any prefix that a proxy adds. */
function redirect({ path, query }: Exchange): Reply {
  const folder = path.slice(path.lastIndexOf('/') + 1)
  return { status: 308, headers: { location: `${folder}/${query}`, 'cache-control': 'no-store' } }
}

function fileReply(exchange: Exchange, { type, etag, text }: PageFile, policy: string): Reply {
  const isPage = type.startsWith('text/html')
  const headers: Record<string, string> = {
    'content-type': type,
    etag,
    // The names of all other files change with their content.
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

/** Scripts and styles of its own only, and no text that becomes code. */
function policyFor(frameAncestors: readonly string[]): string {
  for (const origin of frameAncestors)
    if (!/^https?:\/\/[\w.:[\]-]+$/.test(origin))
      throw new TypeError(
        `dashboard: frameAncestors must be origins such as "https://admin.example", got ${JSON.stringify(origin)}.`,
      )
  const rules = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    'media-src blob:', // sound that a model has made
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'"}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return rules.join('; ')
}
