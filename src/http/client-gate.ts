import { gatewayError } from '../errors.ts'
import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import { bearerToken } from '../lib/bearer.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { StoredSettings } from '../store/settings.ts'
import type { Store } from '../store/store.ts'

/**
 * The client key of a request; `undefined` when it has none that is known and none is required (spec.md, Authentication). Throws or rejects
 * with `KEY_PAUSED` whether or not keys are required, with `KEY_MISSING` or `KEY_UNKNOWN` only if they are, and with `STORAGE_FAILED` when
 * the storage cannot be read. Most requests bring a key that is known already, for which no promise is made.
 */
export function authenticateClient(
  exchange: Exchange,
  { settings, keyring }: Pick<Store, 'settings' | 'keyring'>,
): Awaitable<PresentedKey | undefined> {
  const credentials = presentedCredentials(exchange)
  const known = settings.read()
  const [first] = credentials
  const found = first === undefined || isPromise(known) ? undefined : keyring.find(first)
  if (found && !isPromise(found)) return unlessPaused(found)
  const unseen = isPromise(known) ? credentials : credentials.slice(1)
  return identify(credentials, { settings: known, first: found, unseen, keyring })
}

interface LookUp extends Pick<Store, 'keyring'> {
  settings: Awaitable<StoredSettings>
  /** What the first credential is, unless it is among the unseen. */
  first: Awaitable<PresentedKey | undefined>
  /** The credentials that are still to be looked up. */
  unseen: readonly string[]
}

async function identify(
  credentials: readonly string[],
  { settings, first, unseen, keyring }: LookUp,
): Promise<PresentedKey | undefined> {
  const { requireApiKey } = await settings
  let key = await first
  for (const credential of unseen) key ??= await keyring.find(credential)
  if (key) return unlessPaused(key)
  if (!requireApiKey) return undefined
  const { unknownKey } = await import('./unknown-key.ts')
  throw unknownKey(credentials)
}

function unlessPaused(key: PresentedKey): PresentedKey {
  if (key.isActive === false) throw gatewayError('KEY_PAUSED')
  return key
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
