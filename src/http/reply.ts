import type { Reply } from '../lib/exchange.ts'

/** A JSON reply, which is neither cached nor sniffed. */
export function jsonReply(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    },
    body: JSON.stringify(body),
  }
}

/** A reply without a body. */
export const emptyReply = (status: number, headers: Record<string, string> = {}): Reply => ({ status, headers })
