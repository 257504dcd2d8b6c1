import { gatewayError } from '../errors.ts'
import type { Exchange } from '../lib/exchange.ts'
import { type JsonObject, jsonText, parseJsonObject } from '../lib/json.ts'
import { requireJson } from './media-type.ts'

/**
 * The JSON object that a request brings. Throws `UNSUPPORTED_MEDIA_TYPE` when it does not say so or is compressed, `PAYLOAD_TOO_LARGE`
 * beyond `maxBytes`, and `INVALID_JSON` for everything that is no object, is no UTF-8, or nests deeper than 64 levels.
 */
export async function readJsonBody(exchange: Exchange, maxBytes: number): Promise<JsonObject> {
  requireJson(exchange)
  const encoding = exchange.header('content-encoding')?.trim().toLowerCase()
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
    throw gatewayError('UNSUPPORTED_MEDIA_TYPE', {
      message: 'Compressed requests are not supported; send the JSON as it is.',
    })
  }
  return parseJsonObject(jsonText(await exchange.body(maxBytes)))
}
