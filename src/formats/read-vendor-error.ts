import { isObject, type JsonObject } from '../lib/json.ts'

/** Message and code from the error bodies that vendors send; the message of plain text is the text. */
export function readVendorError(body: unknown): { message?: string; code?: string } {
  const envelope = Array.isArray(body) ? body[0] : body
  if (!isObject(envelope)) return text('message', plainText(envelope))
  const { error } = envelope
  if (isObject(error)) return { ...text('message', error.message), ...text('code', wordIn(error)) }
  const message = typeof error === 'string' ? error : detailIn(envelope.message ?? envelope.detail)
  return { ...text('message', message), ...text('code', wordIn(envelope)) }
}

/** A sentence, or FastAPI's `detail`, a list of errors with their places. The request, which it repeats, is left out. */
function detailIn(said: unknown): unknown {
  const detail = isObject(said) ? said.detail : said // Mistral
  if (!Array.isArray(detail)) return detail
  return detail
    .filter(isObject)
    .map(({ loc, msg }) => (Array.isArray(loc) ? `${loc.join('.')}: ${msg}` : msg))
    .join('; ')
}

/** The code of the error; some vendors have it in `type` or `status`. */
const wordIn = ({ code, error_type, type, status }: JsonObject): string | undefined =>
  [code, error_type, type, status].find((word): word is string => typeof word === 'string' && word !== '')

const text = <K extends string>(name: K, value: unknown): { [P in K]?: string } => {
  const found: { [P in K]?: string } = {}
  if (typeof value === 'string' && value !== '') found[name] = value
  return found
}

/** Plain text, shortened; not a page of HTML, nor a text without words, such as `{}`. */
function plainText(body: unknown): string | undefined {
  if (typeof body !== 'string' || !WORDS.test(body) || body.trimStart().startsWith('<')) return undefined
  if (body.trim() === 'null') return undefined
  return body.length > MAX_TEXT ? `${body.slice(0, MAX_TEXT)}…` : body
}

const MAX_TEXT = 500

const WORDS = /[\p{L}\p{N}]/u
