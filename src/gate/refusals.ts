import { type GatewayError, gatewayError } from '../errors.ts'
import { plainUsd } from '../lib/usd.ts'
import type { LimitRefusal } from '../limits/ledger.ts'
import type { LimitState, LimitUnit, LimitWindow } from '../types/limits.ts'

/** The names of the key and the group whose limits apply to a request. */
export interface Holders {
  key: string | undefined
  group: string | undefined
}

/** What a refused request asked for. */
interface RefusedUse {
  /** What it needs of the unit of the limit, in tokens or US dollars. */
  need: number
  /** Can it limit its own output? */
  limitsOutput: boolean
  holders: Holders
  /** Epoch ms. */
  now: number
  /** Headers that tell the client what is left. */
  headers: Record<string, string>
}

/** The error for a request that does not fit into a limit. */
export function refusalError(
  { limit, why }: LimitRefusal,
  { need, limitsOutput, holders, now, headers }: RefusedUse,
): GatewayError {
  const isOfUse = limit.unit === 'tokens' || limit.unit === 'usd'
  if (isOfUse && why === 'too-large' && !fitsLater(limit, need)) {
    const message = [
      tooLarge(limit, need, holders),
      limitsOutput ? SHORTER_OUTPUT : SHORTER,
      need > limit.limit ? '' : resets(limit),
    ]
    return gatewayError('REQUEST_TOO_EXPENSIVE', { message: joined(message), headers: { ...headers, ...NO_RETRY } })
  }
  if (isOfUse && why === 'used-up' && !isShort(limit.window)) {
    const message = joined([state(limit, holders), resets(limit), HIGHER])
    return gatewayError('BUDGET_EXCEEDED', { message, headers: { ...headers, ...NO_RETRY } })
  }
  if (why === 'held' || limit.unit === 'parallel') {
    const message = joined([state(limit, holders), limit.unit === 'parallel' ? ONE_ENDS : HELD])
    return gatewayError('RATE_LIMIT_EXCEEDED', { message, headers: { ...headers, 'retry-after': '1' } })
  }
  const seconds =
    limit.resetsAt === null ? undefined : Math.max(1, Math.ceil((Date.parse(limit.resetsAt) - now) / 1_000))
  const what = why === 'too-large' ? tooLarge(limit, need, holders) : state(limit, holders)
  return gatewayError('RATE_LIMIT_EXCEEDED', {
    message: joined([what, resets(limit), seconds === undefined ? HIGHER : THEN]),
    headers: {
      ...headers,
      ...(seconds !== undefined && { 'retry-after': String(seconds) }),
      ...((seconds ?? Number.POSITIVE_INFINITY) > TOO_LONG_S && NO_RETRY),
    },
  })
}

/**
 * The longest wait after which clients may retry by themselves, in seconds. With a longer `retry-after`, OpenAI's clients would retry at once and
 * Anthropic's would wait for all of it: `x-should-retry: false` tells both not to retry.
 */
const TOO_LONG_S = 60
const NO_RETRY = { 'x-should-retry': 'false' }

/** Is the window short enough for a client to wait until it ends? */
const isShort = (window: LimitWindow | null) => window === 'minute' || window === 'hour'

const fitsLater = ({ window, limit }: LimitState, need: number) => isShort(window) && need <= limit

/** The error for a request under way that has used what was left of a limit, and needs more. */
export function outgrownError(limit: LimitState, holders: Holders): GatewayError {
  const what = `The request ends here, as it has used what was left: ${lowered(holder(limit, holders))} may use ${amount(limit.limit, limit.unit)} ${WINDOWS[limit.window ?? 'total']}.`
  const code = isShort(limit.window) ? 'RATE_LIMIT_EXCEEDED' : 'BUDGET_EXCEEDED'
  return gatewayError(code, { message: joined([what, resets(limit), HIGHER]), headers: NO_RETRY })
}

/**
 * The error for a target without a known price, where US dollars are limited. `member`: the member of the request that changes the price of the
 * answer, if there is one.
 */
export const unpricedError = (target: string, member: string | undefined): GatewayError =>
  gatewayError('REQUEST_TOO_EXPENSIVE', {
    message: member
      ? `No price is known of "${target}" with this "${member}", and a limit in US dollars holds for this request. Leave "${member}" out; the operator of this gateway can set "unpriced" to "allow" in the settings.`
      : `No price is known of "${target}", and a limit in US dollars holds for this request. Ask for another model; the operator of this gateway can set "prices" for the model, or "unpriced" to "allow" in the settings.`,
    headers: NO_RETRY,
  })

const SHORTER = 'Ask for less at once.'
const SHORTER_OUTPUT = 'Shorten the request, or lower the limit of its output, such as "max_tokens".'
const HIGHER = 'Ask the operator of this gateway for a higher limit.'
const THEN = 'Send the request again then.'
const HELD = 'Requests under way hold the rest, and may not need all of it: send the request again in a moment.'
const ONE_ENDS = 'Send the request again when one of them has ended.'

/** A sentence with the limit and how much of it is used. */
function state(limit: LimitState, holders: Holders): string {
  const { unit, used, reserved, unsettled } = limit
  const whose = holder(limit, holders)
  if (unit === 'parallel')
    return `${whose} may have ${amount(limit.limit, 'requests')} under way at once, and has ${used + reserved + unsettled}.`
  const spent = unit === 'requests' ? used + unsettled : amount(used + unsettled, unit)
  const held =
    reserved > 0 ? `; requests under way hold ${unit === 'requests' ? reserved : amount(reserved, unit)}` : ''
  const may = `${amount(limit.limit, unit)} ${WINDOWS[limit.window ?? 'total']}`
  return unit === 'requests'
    ? `${whose} may make ${may}, and has made ${spent}${held}.`
    : `${whose} may use ${may}, and has used ${spent}${held}.`
}

function tooLarge(limit: LimitState, need: number, holders: Holders): string {
  const { unit, remaining, window } = limit
  const of = `${amount(limit.limit, unit)} ${WINDOWS[window ?? 'total']}`
  return `The request may use up to ${amount(need, unit)}, and ${amount(remaining, unit)} are left: ${lowered(holder(limit, holders))} may use ${of}.`
}

function holder({ scope }: LimitState, { key, group }: Holders): string {
  if (scope === 'key') return key === undefined ? 'This API key' : `The API key "${key}"`
  if (scope === 'group')
    return group === undefined ? 'The group of this API key' : `The group "${group}" of this API key`
  return 'This gateway'
}

const lowered = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`

const resets = ({ resetsAt }: LimitState) =>
  resetsAt === null ? 'This limit does not reset by itself.' : `The limit resets at ${resetsAt}.`

const WINDOWS: Readonly<Record<LimitWindow, string>> = {
  minute: 'a minute',
  hour: 'an hour',
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in total',
}

const amount = (count: number, unit: LimitUnit): string =>
  unit === 'usd'
    ? `${plainUsd(count)} US dollars`
    : `${count} ${unit === 'tokens' ? 'token' : 'request'}${count === 1 ? '' : 's'}`

const joined = (sentences: readonly string[]) => sentences.filter(Boolean).join(' ')
