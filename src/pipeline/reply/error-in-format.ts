import type { Failure } from '../../codec/failure.ts'
import { errorObjectIn } from '../../formats/errors/read.ts'
import type { Format } from '../../formats/format.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import type { UpstreamAnswer } from '../../lib/exchange.ts'
import { isObject, tryParseShallow } from '../../lib/json.ts'

/** Who reads an error, and what it adds to a provider's. */
interface ErrorContext {
  /** The client's. */
  format: Format
  /** Epoch ms. */
  now: number
  /** The gateway's own words, which follow the provider's message; may be empty. */
  remark: string
}

/** The provider's error body, put into the client's format unless its clients can read it as it is. */
export async function errorInFormat(
  { body = new Uint8Array(0), status }: Failure,
  head: UpstreamAnswer,
  { format, now, remark }: ErrorContext,
): Promise<Uint8Array> {
  const text = decodeUtf8Lenient(body)
  const json = tryParseShallow(text)
  if (format.errors.isReadable(json)) return remark === '' ? body : encodeUtf8(JSON.stringify(withRemark(json, remark)))
  const translator = await format.loadTranslator()
  const isKnown = format.errors.read(json).message !== undefined
  const error = translator.parseError({ status, body: isKnown ? json : text, header: (name) => head.header(name), now })
  return encodeUtf8(JSON.stringify(translator.writeError({ ...error, message: joined(error.message, remark) }).body))
}

function withRemark(body: unknown, remark: string): unknown {
  if (Array.isArray(body)) return [withRemark(body[0], remark), ...body.slice(1)]
  const error = errorObjectIn(body)
  if (!error || !isObject(body)) return body
  return { ...body, error: { ...error, message: joined(String(error.message), remark) } }
}

/** A message, followed by a remark if there is one. */
export const joined = (message: string, remark: string): string =>
  remark === '' ? message : `${sentence(message)} ${remark}`.trimStart()

/** A message with a full stop, so that others can follow. */
export const sentence = (text: string): string => (text === '' || /[.!?…]$/.test(text) ? text : `${text}.`)
