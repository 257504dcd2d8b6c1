import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'

/** The parts of a provider's error that decide its class. */
export interface VendorSaid {
  /** The beginning of its message without what is in quotes, which may repeat the request. */
  text: string
  /** Its codes, types and reasons, from whatever member. */
  codes: readonly string[]
  /** Does a router quote the error of a provider behind it? Then it is about the router's account there, not the user's. */
  isSecondHand?: boolean
  /** The ids of violated quotas (Google). */
  quotas: readonly string[]
  /** The field of the request that it is about. */
  param?: string
}

/**
 * Reads the error bodies that vendors send: nested, flat, in an array, quoted by a router, or plain text. `header`: the code that AWS sends
 * in a header, followed by an address.
 */
export function readSaid(body: unknown, header = ''): VendorSaid {
  const said = readBody(body)
  const [code = ''] = header.split(':')
  return code === '' ? said : { ...said, codes: [...said.codes, code] }
}

function readBody(body: unknown): VendorSaid {
  const envelope = Array.isArray(body) ? body[0] : body
  if (typeof body === 'string') return { ...NOTHING, text: unquoted(body) }
  if (!isObject(envelope)) return NOTHING
  const { error, message, Message, detail, code, type, error_type } = envelope
  if (!isObject(error)) {
    const text = [error, message, Message, detail].find(isText) ?? ''
    const codes = [code, type, error_type].filter(isText)
    return inner(text) ?? { text: unquoted(text), codes, quotas: [], ...paramOf(envelope) }
  }
  const raw = isObject(error.metadata) && isText(error.metadata.raw) ? error.metadata.raw : ''
  const text = isText(error.message) ? error.message : ''
  const behind = inner(text) ?? inner(raw)
  return {
    text: behind?.text || unquoted(`${text}${raw === '' || behind ? '' : `\n${raw}`}`),
    codes: [...codesIn(error), ...(behind?.codes ?? [])],
    quotas: quotasIn(error),
    ...paramOf(error),
    ...(raw !== '' && { isSecondHand: true }),
  }
}

const NOTHING: VendorSaid = { text: '', codes: [], quotas: [] }

/** The provider's error that some routers and proxies quote as text. */
function inner(text: string): VendorSaid | undefined {
  const json = text.startsWith('{') ? tryParseJson(text) : undefined
  return isObject(json) ? readBody(json) : undefined
}

function codesIn({ code, type, status, error_type, details, innererror, metadata }: JsonObject): string[] {
  const fine = isObject(details) ? [details.error_code] : detailsIn(details).map(({ reason }) => reason)
  const azure = isObject(innererror) ? innererror.code : undefined
  const routed = isObject(metadata) ? [metadata.limit_source, metadata.reason] : []
  const moderated = isObject(metadata) && isFlagged(metadata) ? FLAGGED : undefined
  return [code, type, status, error_type, ...fine, azure, ...routed, moderated].filter(isText)
}

const paramOf = ({ param }: JsonObject) => (isText(param) ? { param } : undefined)

/** OpenRouter's moderation has no code. */
const isFlagged = ({ reasons, flagged_input }: JsonObject) =>
  isText(flagged_input) || (Array.isArray(reasons) && reasons.length > 0)

const FLAGGED = 'flagged_input'

const quotasIn = ({ details }: JsonObject) =>
  detailsIn(details)
    .flatMap(({ violations }) => (Array.isArray(violations) ? violations : []))
    .map((violation: unknown) => (isObject(violation) ? violation.quotaId : undefined))
    .filter(isText)

const detailsIn = (details: unknown): JsonObject[] => (Array.isArray(details) ? details.filter(isObject) : [])

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Removes quoted text; an open quote extends to the end. */
const unquoted = (message: string) =>
  message.slice(0, MAX_READ).replace(/"[^"]*(?:"|$)|(?<!\w)'[^']*(?:'(?!\w)|$)/g, '""')

const MAX_READ = 500
