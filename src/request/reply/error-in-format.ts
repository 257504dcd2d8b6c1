import { decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import type { UpstreamResponse } from '../../lib/exchange.ts'
import { isObject, tryParseShallow } from '../../lib/json.ts'
import { findHiddenReason, getErrorObject } from '../../protocols/formats/errors/read-error.ts'
import type { Format } from '../../protocols/formats/format.ts'
import type { Failure } from '../codec/call-failure.ts'

/** The client's format, and the gateway's additions to a provider's error. */
interface ErrorContext {
  /** The client's format. */
  format: Format
  /** Epoch ms. */
  now: number
  /** The gateway's own sentences to append to the provider's message; may be empty. */
  remark: string
}

/**
 * Converts a provider's error body to the client's format, unless the format's clients can read it unchanged. Also sets the status, which Google's
 * bodies repeat as a number.
 */
export async function convertErrorBody(
  { body = new Uint8Array(0), status }: Failure,
  head: UpstreamResponse,
  { format, now: nowMs, remark }: ErrorContext,
): Promise<{ status: number; body: Uint8Array }> {
  const text = decodeUtf8Lenient(body)
  const json = tryParseShallow(text)
  const errorObject = getErrorObject(Array.isArray(json) ? json[0] : json)
  const errors = await format.loadErrors()
  const isComplete = errorObject === undefined || !findHiddenReason(errorObject, errors.isOverflowError)
  if (errors.isReadable(json) && isComplete)
    return { status, body: remark === '' ? body : encodeUtf8(JSON.stringify(addRemark(json, remark))) }
  const translator = await format.loadTranslator()
  const hasKnownMessage = errors.read(json).message !== undefined
  const error = translator.parseError({
    status,
    body: hasKnownMessage ? json : text,
    header: (name) => head.header(name),
    nowMs,
  })
  const wireError = translator.writeError({ ...error, message: appendRemark(error.message, remark) })
  const code = getErrorObject(wireError.body)?.code
  return { status: typeof code === 'number' ? code : status, body: encodeUtf8(JSON.stringify(wireError.body)) }
}

function addRemark(body: unknown, remark: string): unknown {
  if (Array.isArray(body)) return [addRemark(body[0], remark), ...body.slice(1)]
  const error = getErrorObject(body)
  if (!error || !isObject(body)) return body
  return { ...body, error: { ...error, message: appendRemark(String(error.message), remark) } }
}

/** Joins a message and a remark. The remark may be empty. */
export const appendRemark = (message: string, remark: string): string =>
  remark === '' ? message : `${endSentence(message)} ${remark}`.trimStart()

/** Ends a message with a period, so other sentences can follow. */
export const endSentence = (text: string): string => (text === '' || /[.!?…]$/.test(text) ? text : `${text}.`)
