import { gatewayError } from '../errors.ts'
import type { Exchange } from './exchange.ts'

/** Throws `UNSUPPORTED_MEDIA_TYPE` when a request says that its body is in another character encoding than UTF-8 or its subset ASCII. */
export function refuseCharset(exchange: Pick<Exchange, 'header'>): void {
  const [, quoted, bare] = CHARSET.exec(exchange.header('content-type') ?? '') ?? []
  const charset = (quoted ?? bare ?? '').trim()
  if (charset === '' || UTF_8.test(charset)) return
  throw gatewayError('UNSUPPORTED_MEDIA_TYPE', {
    message: `Send the JSON in UTF-8, not in "${charset.slice(0, MAX_SHOWN)}" as the content-type says.`,
  })
}

const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;,]*))/i
const UTF_8 = /^(?:utf-?8|(?:us-)?ascii)$/i
const MAX_SHOWN = 60
