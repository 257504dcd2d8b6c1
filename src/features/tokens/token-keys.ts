import { gatewayError } from '../../errors.ts'
import { encodeUtf8 } from '../../lib/bytes.ts'
import { once } from '../../lib/promises.ts'
import type { VersionedSecret } from '../../records/keyring-record.ts'
import { MIN_SECRET_LENGTH, readSecrets, type Secret } from '../../records/open-keyring.ts'
import type { Storage } from '../../types.ts'

/** The HMAC keys for tokens, one for each of the gateway's secrets. */
export interface TokenKeys {
  /** Returns the signing key and the version of its secret. Rejects with `INVALID_REQUEST` if the gateway has no secret. */
  getSigningKey(): Promise<{ version: string; key: CryptoKey }>
  /** Returns the key for the secret with this version, or `undefined` if there is none. */
  find(version: unknown): Promise<CryptoKey | undefined>
}

/** Derives the keys on first use. Rejects with the storage error if the stored secret can't be read. */
export function createTokenKeys({
  secret,
  storage,
}: {
  secret: Secret | undefined
  storage: Pick<Storage, 'ownSecret'>
}): TokenKeys {
  const load = once(async () => {
    const secrets = (await readSecrets(secret, storage)).filter(canSign)
    return Promise.all(secrets.map(async ({ version, value }) => ({ version, key: await deriveKey(value) })))
  })
  return {
    async getSigningKey() {
      const [first] = await load()
      if (!first) throw gatewayError('INVALID_REQUEST', { message: NO_SECRET_MESSAGE })
      return first
    },
    find: async (version) => (await load()).find((entry) => entry.version === version)?.key,
  }
}

const NO_SECRET_MESSAGE =
  'Tokens are signed with the gateway\'s secret, and it has none. Set the "secret" option of createGateway.'

/**
 * Returns whether a secret is long enough for signing. A shorter one could be guessed. It can't have signed any tokens, but it may still decrypt
 * older data.
 */
const canSign = ({ value }: VersionedSecret) => typeof value !== 'string' || value.length >= MIN_SECRET_LENGTH

async function deriveKey(secret: string | CryptoKey): Promise<CryptoKey> {
  const keyMaterial =
    typeof secret === 'string'
      ? await crypto.subtle.importKey('raw', encodeUtf8(secret), 'HKDF', false, ['deriveKey'])
      : secret
  const hkdfParams = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: encodeUtf8('signalbox token') }
  return crypto.subtle.deriveKey(hkdfParams, keyMaterial, { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, [
    'sign',
    'verify',
  ])
}
