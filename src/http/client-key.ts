import { type GatewayError, gatewayError } from '../errors.ts'
import type { Exchange } from '../lib/exchange.ts'
import { bearerToken } from '../lib/http-headers.ts'
import type { Keyring, PresentedKey } from '../store/keyring.ts'
import type { SettingsStore } from '../store/settings.ts'

/** What client keys are checked with. */
export interface KeyStore {
  settings: Pick<SettingsStore, 'read'>
  keyring: Pick<Keyring, 'find'>
}

/**
 * The client key of a request; `undefined` when it has none that is known and none is required (spec.md, Authentication). Rejects with
 * `KEY_PAUSED` whether or not keys are required, with `KEY_MISSING` or `KEY_UNKNOWN` only if they are, and with `STORAGE_FAILED` when the
 * storage cannot be read.
 */
export async function authenticateClient(
  exchange: Exchange,
  { settings, keyring }: KeyStore,
): Promise<PresentedKey | undefined> {
  const credentials = presentedCredentials(exchange)
  const { requireApiKey } = await settings.read()
  for (const credential of credentials) {
    const key = await keyring.find(credential)
    if (key?.isActive === false) throw gatewayError('KEY_PAUSED')
    if (key) return key
  }
  if (requireApiKey) throw unknownKey(credentials)
  return undefined
}

/** The distinct credentials of a request. All headers are read, since a host may use `Authorization` for its own users. */
function presentedCredentials(exchange: Exchange): string[] {
  const bearer = bearerToken(exchange.header('authorization'))
  const credentials = bearer === undefined ? [] : [bearer]
  for (const name of KEY_HEADERS) {
    const value = exchange.header(name)?.trim()
    if (value && !credentials.includes(value)) credentials.push(value)
  }
  return credentials
}

const KEY_HEADERS = ['x-api-key', 'x-goog-api-key', 'api-key']

/** The error of a request whose credentials are no client key, though one is required: `KEY_MISSING` where it has none, or `KEY_UNKNOWN`. */
function unknownKey(credentials: readonly string[]): GatewayError {
  const headers = { 'www-authenticate': 'Bearer' }
  if (credentials.length === 0) return gatewayError('KEY_MISSING', { headers })
  const looksLikeOne = credentials.some((credential) => /^sbx_(?!admin_)/.test(credential))
  return gatewayError('KEY_UNKNOWN', looksLikeOne ? { headers } : { headers, message: FOREIGN })
}

const FOREIGN = `This is no API key that POST /api/keys has made. A provider's key belongs in a connection, an admin token opens /api.`
