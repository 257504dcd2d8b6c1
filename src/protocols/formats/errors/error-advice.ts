import { assertNever } from '../../../lib/assert-never.ts'
import type { ProviderErrorKind } from './error-kinds.ts'
import type { ProviderError } from './read-error.ts'

/** Replaces the provider's error in the client's response. */
interface OperatorAdvice {
  status: number
  message: string
}

/**
 * Returns advice for the operator if the error message doesn't help or may reveal part of a key. For all other errors, clients get the provider's
 * message.
 */
export function getOperatorAdvice(
  kind: ProviderErrorKind,
  status: number,
  error: ProviderError,
): OperatorAdvice | undefined {
  switch (kind) {
    case 'authentication':
    case 'billing':
    case 'permission':
      return { status: 502, message: `${describeRejection(status, error)} ${CREDENTIALS_ADVICE[kind]}` }
    case 'proxy':
      return { status: 502, message: describeProxyRejection(status) }
    case 'wrong-address':
      return {
        status: status === 404 ? 404 : 502,
        message: `The provider returned status ${status}${getUrlAdvice(status)}`,
      }
    case 'unknown-model':
      return status === 401 || status === 403 ? { status: 404, message: describeDeniedModel(status) } : undefined
    case 'bad-request':
    case 'not-found':
    case 'conflict':
    case 'too-large':
    case 'unprocessable':
    case 'content-refused':
    case 'context-overflow':
    case 'over-budget':
    case 'forbidden':
    case 'invalid-model':
    case 'rate-limit':
    case 'quota':
    case 'timeout':
    case 'gateway-timeout':
    case 'cancelled':
    case 'server':
    case 'overloaded':
      return undefined
    default:
      return assertNever(kind)
  }
}

const CREDENTIALS_ADVICE = {
  authentication: 'Its API key is wrong, expired, or revoked. Give the connection a new one.',
  billing: 'The account is out of credit. Top it up at the provider, or use a key from another account.',
  permission:
    'The account or its key lacks a permission or is not allowed to call from this location. Check both at the provider.',
}

function describeRejection(status: number, { codes }: ProviderError): string {
  const reasons = [`status ${status}`, ...codes.filter((code) => PLAIN_CODE_PATTERN.test(code)).slice(0, 1)].join(', ')
  return `The provider rejected the connection's credentials (${reasons}).`
}

/** Matches codes made up of words, such as `unsupported_country_region_territory`, which can't contain a key. */
const PLAIN_CODE_PATTERN = /^(?!invalid_request_error$)[a-z]{2,20}(?:_[a-z]{2,20}){1,5}$/

const describeDeniedModel = (status: number) =>
  `The provider does not let this connection use this model (status ${status}). Ask the provider for access, or use another model.`

const describeProxyRejection = (status: number) =>
  `A proxy between the gateway and the provider requires credentials (status ${status}). Check the gateway's proxy settings, not the connection.`

function getUrlAdvice(status: number): string {
  if (status === 404) return ': the URL does not exist. Check the base URL of the connection.'
  if (status === 405) return ': it does not support that request at this URL. Check the base URL of the connection.'
  return status === 0 || (status >= 300 && status < 400)
    ? ', a redirect, and redirects are not followed. Check the base URL of the connection.'
    : '.'
}
