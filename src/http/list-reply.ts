import { encodeUtf8 } from '../lib/bytes.ts'
import type { ByteStream, Reply } from '../lib/exchange.ts'
import { jsonReply } from './reply.ts'

/** So many are written within a millisecond. */
const PIECE = 500

/**
 * The same as `jsonReply`, but that a long list, the only member of the body, is written piece by piece as the client takes it: to write
 * 100,000 keys at once would keep all others waiting.
 */
export function listReply(status: number, body: object): Reply {
  const [[name, list] = [], ...others] = Object.entries(body)
  if (name === undefined || others.length > 0 || !Array.isArray(list) || list.length <= PIECE)
    return jsonReply(status, body)
  return { ...jsonReply(status, {}), body: pieces(name, list) }
}

function pieces(name: string, list: readonly unknown[]): ByteStream {
  let at = 0
  return {
    async next() {
      if (at >= list.length) return undefined
      const start = at === 0 ? `{${JSON.stringify(name)}:[` : ','
      const elements = JSON.stringify(list.slice(at, at + PIECE)).slice(1, -1)
      at += PIECE
      return encodeUtf8(start + elements + (at >= list.length ? ']}' : ''))
    },
    cancel: () => {
      at = list.length
    },
  }
}
