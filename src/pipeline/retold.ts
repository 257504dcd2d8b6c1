import { saysAccountRefused, saysNoMoney } from '../formats/vendor-refusals.ts'
import type { VendorSaid } from '../formats/vendor-said.ts'
import type { FailureClass } from '../routing/failure-class.ts'
import type { Failure } from './failure.ts'

/**
 * The failure with a message of the gateway's own that says what the operator can do, where the provider's may show part of a key or says
 * nothing; `undefined` where the provider is quoted.
 */
export function retold(failureClass: FailureClass, status: number, said: VendorSaid): Failure | undefined {
  switch (failureClass) {
    case 'credentials':
      return { class: failureClass, status: 502, upstreamStatus: status, message: refused(status, said) }
    case 'network':
      return {
        class: failureClass,
        level: 'connection',
        isCertain: true,
        status: 502,
        upstreamStatus: status,
        message: proxyWantsCredentials(status),
      }
    case 'content':
      return {
        class: failureClass,
        status: status === 404 ? 404 : 502,
        message: `The provider answered with status ${status}${hint(status)}`,
      }
    case 'model-not-found':
      if (status === 401 || status === 403)
        return { class: failureClass, status: 404, upstreamStatus: status, message: deniedModel(status) }
  }
  return undefined
}

function refused(status: number, said: VendorSaid): string {
  const why = [`status ${status}`, ...said.codes.filter((code) => SAYS_MORE.test(code)).slice(0, 1)].join(', ')
  return `The provider refused the credentials of the connection (${why}). ${adviceOn(status, said)}`
}

function adviceOn(status: number, said: VendorSaid): string {
  if (status === 402 || saysNoMoney(said)) return NO_CREDIT
  return status === 403 || saysAccountRefused(said) ? NO_PERMISSION : NEW_KEY
}

/** A code made of words, such as `unsupported_country_region_territory`, which cannot contain a key. */
const SAYS_MORE = /^(?!invalid_request_error$)[a-z]{2,20}(?:_[a-z]{2,20}){1,5}$/

const NEW_KEY = 'Its key is wrong, expired or revoked: give the connection another one.'
const NO_CREDIT = 'The account is out of credit: top it up at the provider, or give the connection the key of another.'
const NO_PERMISSION =
  'The account or its key lacks a permission, or may not call from here: check both at the provider.'

const deniedModel = (status: number) =>
  `The provider does not let the connection use this model (status ${status}). Ask the provider for access, or use another model.`

const proxyWantsCredentials = (status: number) =>
  `A proxy on the way to the provider asks for credentials (status ${status}). Check the proxy settings of the gateway, not those of the connection.`

function hint(status: number) {
  if (status === 404) return ': it knows no such address. Check the base URL of the connection.'
  if (status === 405) return ': it takes no such request at that address. Check the base URL of the connection.'
  return status === 0 || (status >= 300 && status < 400)
    ? ', a redirect, which is never followed. Check the base URL of the connection.'
    : '.'
}
