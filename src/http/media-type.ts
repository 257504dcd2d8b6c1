import { gatewayError } from '../errors.ts'
import { refuseCharset } from '../lib/charset.ts'
import type { Exchange } from '../lib/exchange.ts'

/** Throws `UNSUPPORTED_MEDIA_TYPE` unless the request says that its body is JSON in UTF-8, which no page of another site can say unasked. */
export function requireJson(exchange: Exchange): void {
  const type = exchange.header('content-type')
  const [essence = ''] = (type ?? '').split(';')
  if (!/^application\/(?:[\w.-]+\+)?json$/i.test(essence.trim())) {
    throw gatewayError('UNSUPPORTED_MEDIA_TYPE', {
      message: `Send JSON with the header "content-type: application/json"${type ? `, not "${type.slice(0, MAX_SHOWN)}"` : ''}.`,
    })
  }
  refuseCharset(exchange)
}

const MAX_SHOWN = 60
