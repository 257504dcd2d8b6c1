import { type GatewayError, gatewayError } from '../../errors.ts'
import { formatPlainUsd } from '../../lib/usd.ts'
import type { LimitState, LimitUnit, LimitWindow } from '../../types/limits.ts'
import type { LimitRejection } from './ledger/ledger.ts'

/** The names of the key, group, and plan with limits on a request. */
export interface Holders {
  key: string | undefined
  group: string | undefined
  plan?: string | undefined
}

/** Details of a rejected request, for its error. */
interface RejectedRequest {
  /** The amount needed in the limit's unit, such as tokens or US dollars. */
  neededAmount: number
  /** Whether the request can lower its maximum output. */
  limitsOutput: boolean
  holders: Holders
  /** Epoch ms. */
  now: number
  /** Headers that show the client's remaining limits. */
  headers: Record<string, string>
}

/** Creates the error for a request that exceeds a limit. */
export function createLimitError(
  { limit, why }: LimitRejection,
  { neededAmount, limitsOutput, holders, now, headers }: RejectedRequest,
): GatewayError {
  const isUsageLimit = limit.unit === 'tokens' || limit.unit === 'usd'
  if (isUsageLimit && why === 'too-large' && !canFitLater(limit, neededAmount)) {
    const message = [
      describeTooLarge(limit, neededAmount, holders),
      limitsOutput ? SHORTEN_ADVICE : SPLIT_ADVICE,
      neededAmount > limit.limit ? '' : formatReset(limit),
    ]
    return gatewayError('REQUEST_TOO_EXPENSIVE', {
      message: joinSentences(message),
      headers: { ...headers, ...NO_RETRY_HEADERS },
    })
  }
  if (isUsageLimit && why === 'used-up' && !isShortWindow(limit.window)) {
    const message = joinSentences([describeState(limit, holders), formatReset(limit), HIGHER_LIMIT_ADVICE])
    return gatewayError('BUDGET_EXCEEDED', { message, headers: { ...headers, ...NO_RETRY_HEADERS } })
  }
  if (why === 'held' || limit.unit === 'parallel') {
    const message = joinSentences([
      describeState(limit, holders),
      limit.unit === 'parallel' ? RETRY_LATER_ADVICE : HELD_ADVICE,
    ])
    return gatewayError('RATE_LIMIT_EXCEEDED', { message, headers: { ...headers, 'retry-after': '1' } })
  }
  const seconds =
    limit.resetsAt === null ? undefined : Math.max(1, Math.ceil((Date.parse(limit.resetsAt) - now) / 1_000))
  const explanation =
    why === 'too-large' ? describeTooLarge(limit, neededAmount, holders) : describeState(limit, holders)
  return gatewayError('RATE_LIMIT_EXCEEDED', {
    message: joinSentences([
      explanation,
      formatReset(limit),
      seconds === undefined ? HIGHER_LIMIT_ADVICE : RETRY_THEN_ADVICE,
    ]),
    headers: {
      ...headers,
      ...(seconds !== undefined && { 'retry-after': String(seconds) }),
      ...((seconds ?? Number.POSITIVE_INFINITY) > MAX_RETRY_AFTER_S && NO_RETRY_HEADERS),
    },
  })
}

/**
 * The longest wait, in seconds, for which clients may retry automatically. With a longer `retry-after`, OpenAI's clients would retry immediately, and
 * Anthropic's would wait that long. `x-should-retry: false` prevents both.
 */
const MAX_RETRY_AFTER_S = 60
const NO_RETRY_HEADERS = { 'x-should-retry': 'false' }

/** Returns whether the window is short enough for a client to wait for its end. */
const isShortWindow = (window: LimitWindow | null) => window === 'minute' || window === 'hour'

const canFitLater = ({ window, limit }: LimitState, neededAmount: number) =>
  isShortWindow(window) && neededAmount <= limit

/** Creates the error for an in-flight request that needs more than a limit has left. */
export function createCutOffError(limit: LimitState, holders: Holders): GatewayError {
  const explanation = `The response was cut off because it used up the rest of a limit: ${lowerFirst(describeHolder(limit, holders))} can use ${formatUnits(limit.limit, limit.unit)} ${WINDOW_WORDS[limit.window ?? 'total']}.`
  const code = isShortWindow(limit.window) ? 'RATE_LIMIT_EXCEEDED' : 'BUDGET_EXCEEDED'
  return gatewayError(code, {
    message: joinSentences([explanation, formatReset(limit), HIGHER_LIMIT_ADVICE]),
    headers: NO_RETRY_HEADERS,
  })
}

/**
 * Creates the error for a target whose price is unknown although the request has a dollar limit. `member` is the request field that changes the
 * price, if any.
 */
export const createUnknownPriceError = (target: string, member?: string): GatewayError =>
  gatewayError('REQUEST_TOO_EXPENSIVE', {
    message: member
      ? `The price of "${target}" with this "${member}" is unknown, and this request is subject to a dollar limit. Remove "${member}", or ask the operator of this gateway to set "whenPriceUnknown" to "allow" in the settings.`
      : `The price of "${target}" is unknown, and this request is subject to a dollar limit. Use another model, or ask the operator of this gateway to set "prices" for the model or "whenPriceUnknown" to "allow" in the settings.`,
    headers: NO_RETRY_HEADERS,
  })

const SPLIT_ADVICE = 'Split the request into smaller ones.'
const SHORTEN_ADVICE = 'Shorten the prompt or lower the output limit, such as "max_tokens".'
const HIGHER_LIMIT_ADVICE = 'Ask the operator of this gateway for a higher limit.'
const RETRY_THEN_ADVICE = 'Retry then.'
const HELD_ADVICE = 'In-flight requests have reserved the rest and may not use all of it. Retry in a moment.'
const RETRY_LATER_ADVICE = 'Retry when one of them has finished.'

/** Describes the limit and how much of it is used, as a sentence. */
function describeState(limit: LimitState, holders: Holders): string {
  const { unit, used, reserved, unsettled } = limit
  const holderText = describeHolder(limit, holders)
  if (unit === 'parallel')
    return `${holderText} can run ${formatUnits(limit.limit, 'requests')} at a time and has ${used + reserved + unsettled} in flight.`
  const spent = unit === 'requests' ? used + unsettled : formatUnits(used + unsettled, unit)
  const reservedText =
    reserved > 0
      ? `; in-flight requests have reserved ${unit === 'requests' ? reserved : formatUnits(reserved, unit)}`
      : ''
  const limitText = `${formatUnits(limit.limit, unit)} ${WINDOW_WORDS[limit.window ?? 'total']}`
  return unit === 'requests'
    ? `${holderText} can make ${limitText} and has made ${spent}${reservedText}.`
    : `${holderText} can use ${limitText} and has used ${spent}${reservedText}.`
}

function describeTooLarge(limit: LimitState, neededAmount: number, holders: Holders): string {
  const { unit, remaining, window } = limit
  const limitText = `${formatUnits(limit.limit, unit)} ${WINDOW_WORDS[window ?? 'total']}`
  return `The request could use up to ${formatUnits(neededAmount, unit)}, more than the ${formatUnits(remaining, unit)} left: ${lowerFirst(describeHolder(limit, holders))} can use ${limitText}.`
}

function describeHolder({ scope }: LimitState, { key, group, plan }: Holders): string {
  if (scope === 'account') return 'Your account'
  if (scope === 'run') return 'This token'
  if (scope === 'key') return key === undefined ? 'This API key' : `The API key "${key}"`
  if (scope === 'group' && group === undefined && plan !== undefined) return `The plan "${plan}" of your account`
  if (scope === 'group')
    return group === undefined ? 'The group of this API key' : `The group "${group}" of this API key`
  return 'This gateway'
}

const lowerFirst = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`

const formatReset = ({ resetsAt }: LimitState) =>
  resetsAt === null ? 'This limit does not reset automatically.' : `The limit resets at ${resetsAt}.`

const WINDOW_WORDS: Readonly<Record<LimitWindow, string>> = {
  minute: 'per minute',
  hour: 'per hour',
  day: 'per day',
  week: 'per week',
  month: 'per month',
  total: 'in total',
}

const formatUnits = (count: number, unit: LimitUnit): string =>
  unit === 'usd'
    ? `$${formatPlainUsd(count)}`
    : `${count} ${unit === 'tokens' ? 'token' : 'request'}${count === 1 ? '' : 's'}`

const joinSentences = (sentences: readonly string[]) => sentences.filter(Boolean).join(' ')
