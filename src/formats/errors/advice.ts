import { assertNever } from '../../lib/assert-never.ts'
import type { ProviderErrorKind } from './kinds.ts'
import type { ProviderError } from './read.ts'

/** The error that the client gets in place of a provider's. */
interface OperatorAdvice {
  /** The status for the client. */
  status: number
  message: string
}

/**
 * The advice to the operator, for errors whose own message may show part of a key or does not help; `undefined` for errors whose message the
 * client gets.
 */
export function operatorAdvice(
  kind: ProviderErrorKind,
  status: number,
  error: ProviderError,
): OperatorAdvice | undefined {
  switch (kind) {
    case 'authentication':
    case 'billing':
    case 'permission':
      return { status: 502, message: `${refusedCredentials(status, error)} ${CREDENTIALS_ADVICE[kind]}` }
    case 'proxy':
      return { status: 502, message: proxyWantsCredentials(status) }
    case 'wrong-address':
      return {
        status: status === 404 ? 404 : 502,
        message: `The provider answered with status ${status}${addressAdvice(status)}`,
      }
    case 'unknown-model':
      return status === 401 || status === 403 ? { status: 404, message: deniedModel(status) } : undefined
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
  authentication: 'Its key is wrong, expired or revoked: give the connection another one.',
  billing: 'The account is out of credit: top it up at the provider, or give the connection the key of another.',
  permission: 'The account or its key lacks a permission, or may not call from here: check both at the provider.',
}

function refusedCredentials(status: number, { codes }: ProviderError): string {
  const reasons = [`status ${status}`, ...codes.filter((code) => PLAIN_CODE.test(code)).slice(0, 1)].join(', ')
  return `The provider refused the credentials of the connection (${reasons}).`
}

/** A code made of words, such as `unsupported_country_region_territory`, which cannot contain a key. */
const PLAIN_CODE = /^(?!invalid_request_error$)[a-z]{2,20}(?:_[a-z]{2,20}){1,5}$/

const deniedModel = (status: number) =>
  `The provider does not let the connection use this model (status ${status}). Ask the provider for access, or use another model.`

const proxyWantsCredentials = (status: number) =>
  `A proxy on the way to the provider asks for credentials (status ${status}). Check the proxy settings of the gateway, not those of the connection.`

function addressAdvice(status: number): string {
  if (status === 404) return ': it knows no such address. Check the base URL of the connection.'
  if (status === 405) return ': it takes no such request at that address. Check the base URL of the connection.'
  return status === 0 || (status >= 300 && status < 400)
    ? ', a redirect, which is never followed. Check the base URL of the connection.'
    : '.'
}
