import { errorObjectIn } from '../formats/error-object.ts'
import type { Format } from '../formats/format.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import type { UpstreamAnswer } from '../lib/exchange.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import type { Failure } from './failure.ts'

/** Who reads an error, and what it adds to a provider's. */
export interface ErrorReader {
  /** The client's. */
  format: Format
  /** Epoch ms. */
  now: number
  /** The gateway's own words behind the provider's message; may be empty. */
  words: string
}

/** The provider's error body, put into the client's format unless its clients can read it as it is. */
export async function errorInFormat(
  { body, status }: Failure,
  head: UpstreamAnswer,
  { format, now, words }: ErrorReader,
): Promise<Uint8Array> {
  const bytes = body ?? new Uint8Array(0)
  const text = decodeUtf8Lenient(bytes)
  const json = tryParseJson(text)
  const { isReadable } = await format.loadErrors()
  if (isReadable(json)) return words === '' ? bytes : encodeUtf8(JSON.stringify(withWords(json, words)))
  const translator = await format.loadTranslator()
  const { read } = await format.loadFailures()
  const isKnown = read(json).message !== undefined
  const error = translator.parseError({ status, body: isKnown ? json : text, header: (name) => head.header(name), now })
  const { message } = error
  const told = words === '' ? error : { ...error, message: joined(message, words) }
  return encodeUtf8(JSON.stringify(translator.writeError(told).body))
}

/** Sentences of different origin; a full stop is added between them where there is none. */
export const joined = (message: string, words: string): string =>
  [sentence(message), words].filter((text) => text !== '').join(' ')

/** A message of a provider with a full stop, so that others can follow. */
export const sentence = (text: string): string => (text === '' || /[.!?…]$/.test(text) ? text : `${text}.`)

function withWords(body: unknown, words: string): unknown {
  if (Array.isArray(body)) return [withWords(body[0], words), ...body.slice(1)]
  const error = errorObjectIn(body)
  if (!error || !isObject(body)) return body
  return { ...body, error: { ...error, message: joined(String(error.message), words) } }
}
