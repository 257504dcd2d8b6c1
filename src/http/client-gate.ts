import { gatewayError } from '../errors.ts'
import { bearerToken } from '../lib/bearer.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Store } from '../store/store.ts'

/**
 * The key of a model client. A paused key is refused whether or not keys are required; a missing or unknown one only when they are.
 * Throws `KEY_MISSING`, `KEY_UNKNOWN`, `KEY_PAUSED`, or `STORAGE_FAILED` when it cannot be told: the gate then stays shut.
 */
export async function authenticateClient(
  exchange: Exchange,
  { settings, keyring }: Pick<Store, 'settings' | 'keyring'>,
): Promise<PresentedKey | undefined> {
  const credentials = presentedCredentials(exchange)
  const { requireApiKey } = await settings.read()
  for (const credential of credentials) {
    const key = await keyring.find(credential)
    if (key?.isActive === false) throw gatewayError('KEY_PAUSED')
    if (key) return key
  }
  if (!requireApiKey) return undefined
  const headers = { 'www-authenticate': 'Bearer' }
  if (credentials.length === 0) throw gatewayError('KEY_MISSING', { headers })
  const looksLikeOne = credentials.some((credential) => /^sbx_(?!admin_)/.test(credential))
  throw gatewayError('KEY_UNKNOWN', looksLikeOne ? { headers } : { headers, message: FOREIGN })
}

const FOREIGN = `This is no API key that POST /api/keys has made. A provider's key belongs in a connection, an admin token opens /api.`

/** The credentials of a request, each once; a host may need `Authorization` for its own users, so the others count too. */
function presentedCredentials(exchange: Exchange): string[] {
  const credentials: string[] = []
  const bearer = bearerToken(exchange.header('authorization'))
  if (bearer !== undefined) credentials.push(bearer)
  for (const name of ['x-api-key', 'x-goog-api-key', 'api-key']) {
    const value = exchange.header(name)?.trim()
    if (value && !credentials.includes(value)) credentials.push(value)
  }
  return credentials
}
