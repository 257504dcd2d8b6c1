import { type GatewayError, gatewayError } from '../errors.ts'

/** The error of a request whose credentials are no client key, though one is required: `KEY_MISSING` where it has none, or `KEY_UNKNOWN`. */
export function unknownKey(credentials: readonly string[]): GatewayError {
  const headers = { 'www-authenticate': 'Bearer' }
  if (credentials.length === 0) return gatewayError('KEY_MISSING', { headers })
  const looksLikeOne = credentials.some((credential) => /^sbx_(?!admin_)/.test(credential))
  return gatewayError('KEY_UNKNOWN', looksLikeOne ? { headers } : { headers, message: FOREIGN })
}

const FOREIGN = `This is no API key that POST /api/keys has made. A provider's key belongs in a connection, an admin token opens /api.`
