import { gatewayError } from '../errors.ts'
import type { Exchange } from '../lib/exchange.ts'
import { type JsonObject, jsonText, parseJsonObject } from '../lib/json.ts'
import { requireJson, requirePlainUtf8 } from '../lib/media-type.ts'
import { type BodyLimits, timedBody } from '../lib/timed-body.ts'

/**
 * The JSON object that a request brings. Throws `UNSUPPORTED_MEDIA_TYPE` when it does not say so, is compressed or says another encoding,
 * `PAYLOAD_TOO_LARGE` and `REQUEST_TIMEOUT` beyond the limits, and `INVALID_JSON` for everything that is no object, is no UTF-8, or nests deeper than 64 levels.
 */
export async function readJsonBody(exchange: Exchange, limits: BodyLimits): Promise<JsonObject> {
  requireJson(exchange)
  requirePlainUtf8(exchange)
  return parseJsonObject(jsonText(await unlessLeft(exchange, timedBody(exchange, limits))))
}

/** Rejects as soon as the client leaves, which not every platform tells whoever reads the body. */
function unlessLeft<T>(exchange: Exchange, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopListening = exchange.onAbort(() => reject(gatewayError('CLIENT_CLOSED_REQUEST')))
    work.then(resolve, reject).finally(stopListening)
  })
}
