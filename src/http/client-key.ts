import { type GatewayError, gatewayError } from '../errors.ts'
import type { Acting, Exchange } from '../lib/exchange.ts'
import { bearerToken } from '../lib/http-headers.ts'
import type { Client } from '../pipeline/client.ts'
import { refusalOfKey } from '../store/client-key.ts'
import type { Keyring, PresentedKey } from '../store/keyring.ts'
import type { SettingsStore } from '../store/settings.ts'
import type { Clock } from '../types.ts'

/** By what client keys are checked. */
export interface KeyStore {
  clock: Pick<Clock, 'now'>
  settings: Pick<SettingsStore, 'read'>
  /** `read` for requests that act as a key. */
  keyring: Pick<Keyring, 'find'> & Partial<Pick<Keyring, 'read'>>
}

/**
 * The client key of a request; `undefined` when it has none that is known and none is required (src/rules.md, Client keys). `client` gets a
 * known key, one that is refused too, and may end the wait for the storage by its time-out. Rejects with `KEY_PAUSED`, also when its group is
 * paused, and with `KEY_EXPIRED` whether or not keys are required, with `KEY_MISSING` or `KEY_UNKNOWN` only if they are, and with
 * `STORAGE_FAILED` when the storage cannot be read.
 */
export async function authenticateClient(
  exchange: Exchange,
  store: KeyStore,
  client: Client | undefined,
): Promise<PresentedKey | undefined> {
  const credentials = presentedCredentials(exchange)
  const looking = exchange.actsAs ? actingKey(exchange.actsAs, store) : lookUp(credentials, store)
  const { key, isRequired } = await (client?.isTimed ? client.scope.race(looking) : looking)
  if (client) client.key = key
  const refusal = key ? refusalOfKey(key, store.clock.now()) : isRequired ? unknownKey(credentials) : undefined
  if (refusal) throw refusal
  return key
}

/** The first of the credentials that is a key of a client. */
async function lookUp(credentials: readonly string[], { settings, keyring }: KeyStore) {
  const { requireApiKey: isRequired } = await settings.read()
  for (const credential of credentials) {
    const key = await keyring.find(credential)
    if (key) return { key, isRequired }
  }
  return { key: undefined, isRequired }
}

/** The key that a request in this process acts as; one that was deleted meanwhile is not known. */
async function actingKey({ keyDigest }: Acting, { keyring }: KeyStore) {
  const key = keyDigest === undefined ? undefined : await keyring.read?.(keyDigest)
  return { key, isRequired: keyDigest !== undefined }
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

/** The error of a request without a known client key where one is required: `KEY_MISSING` when it has no credential, otherwise `KEY_UNKNOWN`. */
function unknownKey(credentials: readonly string[]): GatewayError {
  const headers = { 'www-authenticate': 'Bearer' }
  if (credentials.length === 0) return gatewayError('KEY_MISSING', { headers })
  const looksLikeOne = credentials.some((credential) => /^sbx_(?!admin_)/.test(credential))
  return gatewayError('KEY_UNKNOWN', looksLikeOne ? { headers } : { headers, message: FOREIGN })
}

const FOREIGN = `This is no API key that POST /api/keys has made. A provider's key belongs in a connection, an admin token opens /api.`
