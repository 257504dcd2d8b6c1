import type { Reply } from '../lib/exchange.ts'

/** A JSON answer. Nothing of the gateway is to be cached or sniffed. */
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

/** An answer without a body. */
export const emptyReply = (status: number, headers: Record<string, string> = {}): Reply => ({ status, headers })
