import { decodeUtf8Lenient } from '../../lib/bytes.ts'
import { isByteStream, type Reply } from '../../lib/exchange.ts'
import { isObject, tryParseJson } from '../../lib/json.ts'
import type { Endpoint } from '../../protocols/formats/format.ts'

/** Copies the reply's error message to the other fields in which the endpoint's clients look for it. */
export function copyErrorMessage(reply: Reply, endpoint: Pick<Endpoint, 'messageFields'> | object | undefined): Reply {
  const names = endpoint && 'messageFields' in endpoint ? endpoint.messageFields : undefined
  const { status, body } = reply
  if (!names || status < 400 || body === undefined || isByteStream(body)) return reply
  const json = tryParseJson(typeof body === 'string' ? body : decodeUtf8Lenient(body))
  if (!isObject(json) || !isObject(json.error)) return reply
  const { message } = json.error
  return { ...reply, body: JSON.stringify({ ...Object.fromEntries(names.map((name) => [name, message])), ...json }) }
}
