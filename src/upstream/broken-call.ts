import { type GatewayError, gatewayError } from '../errors.ts'
import { isObject } from '../lib/json.ts'

/** The error that a call stands for which has failed by itself, before the headers of its answer or in its body. */
export function brokenCall(thrown: unknown, isAnswered: boolean): GatewayError {
  if (isTimeout(thrown)) return gatewayError('UPSTREAM_TIMEOUT', { message: OUT_OF_TIME })
  return isAnswered ? gatewayError('UPSTREAM_CUT', { cause: thrown }) : unreachable(thrown)
}

const OUT_OF_TIME = 'The provider was slower than the HTTP client of the gateway allows.'

/** Does the HTTP client have a time-out of its own, shorter than the gateway's? That of undici, or of a signal. */
function isTimeout(thrown: unknown): boolean {
  const cause = causeOf(thrown)
  return isObject(cause) && [cause.code, cause.name].some((said) => TIMEOUTS.test(String(said)))
}

const TIMEOUTS = /^(?:UND_ERR_(?:HEADERS|BODY)_TIMEOUT|TimeoutError)$/

/**
 * The failure in words that name no address: ECONNREFUSED, ENOTFOUND, a TLS code. Only a cause with such a code is kept: an error about
 * the request itself may quote a header.
 */
function unreachable(thrown: unknown): GatewayError {
  const cause = causeOf(thrown)
  const own = isObject(cause) ? cause.code : undefined
  const code = own ?? codeInWords(cause)
  if (typeof code !== 'string' || code === 'UND_ERR_INVALID_ARG') return gatewayError('UPSTREAM_UNREACHABLE')
  const advice = 'Check the base URL of its connection, and whether the gateway gets there: DNS, proxy, firewall.'
  const message = `The provider cannot be reached (${code}). ${advice}`
  return gatewayError('UPSTREAM_UNREACHABLE', { message, ...(own !== undefined && { cause }), data: { code } })
}

const causeOf = (thrown: unknown) => (thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown)

/** Deno has no codes: "client error (Connect): tcp connect error: Connection refused (os error 111)". */
function codeInWords(cause: unknown): string | undefined {
  const [, words] = (cause instanceof Error && /client error \(Connect\)(.*)/.exec(cause.message)) || []
  if (words === undefined) return undefined
  if (words.includes('dns error')) return 'ENOTFOUND'
  return words.includes('refused') ? 'ECONNREFUSED' : 'CONNECT'
}
