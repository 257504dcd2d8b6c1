import { memoizeByName } from '../../lib/maps.ts'
import type { LimitState, LimitUnit } from '../../types/limits.ts'
import type { ClientFormat } from '../../types.ts'

/** The units with rate-limit headers. */
type HeaderUnit = Extract<LimitUnit, 'requests' | 'tokens'>
const HEADER_UNITS: readonly HeaderUnit[] = ['requests', 'tokens']

/** The header names for a unit, such as `x-ratelimit-remaining-tokens`. */
type HeaderNames = Readonly<Record<'limit' | 'remaining' | 'reset', string>>

/** The headers that a format's clients read their limits from, and the format of reset times. */
interface LimitHeaderStyle extends Readonly<Record<HeaderUnit, HeaderNames>> {
  formatReset(resetsAt: string, now: number): string
}

const getHeaderNames = (getName: (field: string) => string): HeaderNames => ({
  limit: getName('limit'),
  remaining: getName('remaining'),
  reset: getName('reset'),
})

const openaiStyle: LimitHeaderStyle = {
  requests: getHeaderNames((field) => `x-ratelimit-${field}-requests`),
  tokens: getHeaderNames((field) => `x-ratelimit-${field}-tokens`),
  formatReset: (resetsAt, now) => formatWait(parseReset(resetsAt) - now),
}

const anthropicStyle: LimitHeaderStyle = {
  requests: getHeaderNames((field) => `anthropic-ratelimit-requests-${field}`),
  tokens: getHeaderNames((field) => `anthropic-ratelimit-tokens-${field}`),
  formatReset: (resetsAt) => resetsAt.replace(/\.\d+Z$/, 'Z'),
}

/** The style for each client format. Google and AI SDK clients don't read such headers. */
const headerStyles: Readonly<Record<ClientFormat, LimitHeaderStyle | undefined>> = {
  'openai-chat': openaiStyle,
  'openai-responses': openaiStyle,
  'anthropic-messages': anthropicStyle,
  gemini: undefined,
  'ai-sdk': undefined,
}

/**
 * Creates the headers that show clients their remaining request and token limits, in the style of their format. If a unit has several limits, the
 * headers show the one with the smallest remaining share. `now` is in epoch ms.
 */
export function createLimitHeaders(
  limits: readonly LimitState[],
  { format, now }: { format: ClientFormat; now: number },
): Record<string, string> {
  const style = headerStyles[format]
  const headers: Record<string, string> = {}
  if (!style) return headers
  for (const unit of HEADER_UNITS) {
    const tightest = findTightestLimit(limits, unit)
    if (!tightest) continue
    const { limit, remaining, resetsAt } = tightest
    const names = style[unit]
    headers[names.limit] = String(limit)
    headers[names.remaining] = String(remaining)
    if (resetsAt !== null) headers[names.reset] = style.formatReset(resetsAt, now)
  }
  return headers
}

/** Finds the unit's limit with the smallest remaining share. */
export function findTightestLimit(limits: readonly LimitState[], unit: LimitUnit): LimitState | undefined {
  let tightest: LimitState | undefined
  for (const limit of limits)
    if (limit.unit === unit && (!tightest || getRemainingShare(limit) < getRemainingShare(tightest))) tightest = limit
  return tightest
}

const getRemainingShare = ({ remaining, limit }: LimitState) => remaining / limit

/** Converts a reset time to epoch ms. Parses it only once for all requests in a window. */
const parseReset = memoizeByName((resetsAt) => Date.parse(resetsAt))

/** Formats a time as OpenAI does: `1s`, `6m0s`, `23h59m59s`. */
function formatWait(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  const hoursText = hours > 0 ? `${hours}h` : ''
  return `${hoursText}${seconds >= 60 ? `${minutes}m` : ''}${seconds % 60}s`
}

/** Removes a provider's limit headers, because they don't describe the client's limits. */
export function dropProviderLimits(headers: Record<string, string>): void {
  for (const name in headers) if (isProviderHeader(name)) delete headers[name]
}

const isProviderHeader = memoizeByName((name) => PROVIDER_HEADER.test(name))

const PROVIDER_HEADER = /^(?:x-ratelimit|anthropic-ratelimit|anthropic-priority)-/
