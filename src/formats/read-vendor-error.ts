import { isObject, type JsonObject } from '../lib/json.ts'

/** Message and code out of the error envelopes that vendors really send; the message of plain text is that text. */
export function readVendorError(body: unknown): { message?: string; code?: string } {
  const envelope = Array.isArray(body) ? body[0] : body
  if (!isObject(envelope)) return text('message', plainText(envelope))
  const { error } = envelope
  if (isObject(error)) return { ...text('message', error.message), ...text('code', wordIn(error)) }
  const message = typeof error === 'string' ? error : (envelope.message ?? detailIn(envelope.detail))
  return { ...text('message', message), ...text('code', wordIn(envelope)) }
}

/** FastAPI's: a sentence, or a list of what is wrong where, beside which it repeats the request. */
function detailIn(detail: unknown): unknown {
  if (!Array.isArray(detail)) return detail
  return detail
    .filter(isObject)
    .map(({ loc, msg }) => (Array.isArray(loc) ? `${loc.join('.')}: ${msg}` : msg))
    .join('; ')
}

/** What kind of error it is, in a word; some have a status in the place of one. */
const wordIn = ({ code, error_type, type, status }: JsonObject): string | undefined =>
  [code, error_type, type, status].find((word): word is string => typeof word === 'string' && word !== '')

const text = <K extends string>(name: K, value: unknown): { [P in K]?: string } => {
  const found: { [P in K]?: string } = {}
  if (typeof value === 'string' && value !== '') found[name] = value
  return found
}

/** Text that is worth showing: not a page of HTML, and not all of it. */
function plainText(body: unknown): string | undefined {
  if (typeof body !== 'string' || body.trim() === '' || body.trimStart().startsWith('<')) return undefined
  return body.length > MAX_TEXT ? `${body.slice(0, MAX_TEXT)}…` : body
}

const MAX_TEXT = 500
