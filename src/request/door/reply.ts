import type { Reply } from '../../lib/exchange.ts'

/** The headers of a reply that is neither cached nor sniffed. */
export const UNCACHED_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

/** Creates a JSON reply, which is neither cached nor sniffed. */
export function createJsonReply(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...UNCACHED_HEADERS,
      ...headers,
    },
    body: JSON.stringify(body),
  }
}

/** Creates a reply without a body. */
export const createEmptyReply = (headers: Record<string, string>): Reply => ({ status: 204, headers })
