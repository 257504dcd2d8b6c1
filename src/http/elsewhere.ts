import type { Exchange, Reply } from '../lib/exchange.ts'
import { below } from './paths.ts'
import { jsonReply } from './reply.ts'

/** What `fetch` answers for paths that are not the gateway's: a sign of life at its root, which tools probe, and a 404 that helps. */
export function elsewhereReply(exchange: Exchange, basePath: string): Reply {
  const root = `${basePath}/v1`
  const probe = exchange.method === 'GET' || exchange.method === 'HEAD'
  const reply =
    probe && below(basePath, exchange.path) === '/'
      ? jsonReply(200, { name: 'signalbox', baseUrl: root, models: `${root}/models` })
      : jsonReply(404, {
          error: `There is nothing at ${exchange.path}. Model clients use ${root}, the management API is at ${basePath}/api.`,
        })
  return exchange.method === 'HEAD' ? { status: reply.status, headers: reply.headers } : reply
}
