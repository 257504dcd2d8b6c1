import { type GatewayError, gatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'

/** Converts the error from a call that failed on its own, before the response headers or in the body. */
export function toCallError(error: unknown, hasResponse: boolean): GatewayError {
  if (isTimeout(error)) return gatewayError('UPSTREAM_TIMEOUT', { message: CLIENT_TIMEOUT_MESSAGE })
  return hasResponse ? gatewayError('UPSTREAM_CUT', { cause: error }) : createUnreachableError(error)
}

const CLIENT_TIMEOUT_MESSAGE = "The provider took longer than the gateway's HTTP client allows."

/** Returns whether this is a timeout of the HTTP client itself, from undici or a signal, which was shorter than the gateway's. */
function isTimeout(error: unknown): boolean {
  const cause = getCause(error)
  return isObject(cause) && [cause.code, cause.name].some((name) => TIMEOUT_PATTERN.test(String(name)))
}

const TIMEOUT_PATTERN = /^(?:UND_ERR_(?:HEADERS|BODY)_TIMEOUT|TimeoutError)$/

/**
 * Creates the error for a failed connection. Its message contains the failure's code, such as ECONNREFUSED, ENOTFOUND, or a TLS code, but no address.
 * It keeps only a cause with such a code, because an error about the request itself may quote a header.
 */
function createUnreachableError(error: unknown): GatewayError {
  const cause = getCause(error)
  const causeCode = isObject(cause) ? cause.code : undefined
  const code = causeCode ?? parseDenoMessage(cause)
  if (typeof code !== 'string' || code === 'UND_ERR_INVALID_ARG') return gatewayError('UPSTREAM_UNREACHABLE')
  const advice = 'Check the base URL of its connection, and DNS, proxy, and firewall settings.'
  const message = `The provider is unreachable (${code}). ${advice}`
  return gatewayError('UPSTREAM_UNREACHABLE', { message, ...(causeCode !== undefined && { cause }), data: { code } })
}

const getCause = (error: unknown) => (error instanceof Error && error.cause !== undefined ? error.cause : error)

/**
 * Returns the code for a Deno message, because Deno's errors have no codes: "client error (Connect): tcp connect error: Connection refused (os error
 * 111)".
 */
function parseDenoMessage(cause: unknown): string | undefined {
  const [, words] = (cause instanceof Error && /client error \(Connect\)(.*)/.exec(cause.message)) || []
  if (words === undefined) return undefined
  if (words.includes('dns error')) return 'ENOTFOUND'
  return words.includes('refused') ? 'ECONNREFUSED' : 'CONNECT'
}
