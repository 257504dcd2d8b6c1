import type { Exchange, Reply } from '../lib/exchange.ts'
import { below } from './paths.ts'
import { jsonReply } from './reply.ts'

/**
 * The reply of `fetch` for a path that is not the gateway's: a description at the root, which tools probe, otherwise a 404 that names the
 * right paths.
 */
export function elsewhereReply({ method, path }: Exchange, basePath: string): Reply {
  const root = `${basePath}/v1`
  const isRoot = below(basePath, path) === '/'
  if (isRoot && method === 'OPTIONS') return { status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } }
  const reply =
    isRoot && (method === 'GET' || method === 'HEAD')
      ? jsonReply(200, { name: 'signalbox', baseUrl: root, models: `${root}/models` })
      : jsonReply(404, {
          error: `There is nothing at ${path}. Model clients use ${root}, the management API is at ${basePath}/api: check the base URL.`,
        })
  return method === 'HEAD' ? { status: reply.status, headers: reply.headers } : reply
}
