import { SignJWT } from 'jose/jwt/sign'
import { gatewayError } from '../../../errors.ts'
import { decodeUtf8Lenient, fromBase64, readAll } from '../../../lib/bytes.ts'
import type { UpstreamCall, UpstreamFetch } from '../../../lib/exchange.ts'
import { isObject, tryParseJson } from '../../../lib/json.ts'
import { evictOldest } from '../../../lib/maps.ts'
import type { Clock } from '../../../types.ts'
import { ProviderCall } from '../provider-call.ts'
import type { ServiceAccount } from './cloud-rules.ts'

/** Returns an access token for the service account. Rejects with `UPSTREAM_CREDENTIALS` if Google rejects the account. */
export type GetGoogleToken = (account: ServiceAccount, fetch: UpstreamFetch) => Promise<string>

interface CachedToken {
  token: Promise<string>
  /** When the token expires, in epoch ms; infinite while it is being requested. */
  expiresAt: number
}

/** Creates the token cache. Requests each token once for all concurrent calls, and a new one a minute before it expires. */
export function createGoogleTokens(clock: Clock): GetGoogleToken {
  const tokens = new Map<string, CachedToken>() // tokens by private key

  function requestToken(account: ServiceAccount, fetch: UpstreamFetch): CachedToken {
    const tokenResponse = exchangeAssertion(account, { fetch, clock })
    const cachedToken: CachedToken = {
      token: tokenResponse.then(({ token }) => token),
      expiresAt: Number.POSITIVE_INFINITY,
    }
    evictOldest(tokens, MAX_ACCOUNTS)
    tokens.set(account.privateKey, cachedToken)
    tokenResponse.then(
      ({ seconds }) => {
        cachedToken.expiresAt = clock.now() + (seconds - EXPIRY_MARGIN_S) * 1_000
      },
      () => tokens.delete(account.privateKey),
    )
    return cachedToken
  }

  return (account, fetch) => {
    const cached = tokens.get(account.privateKey)
    return (cached && clock.now() < cached.expiresAt ? cached : requestToken(account, fetch)).token
  }
}

const MAX_ACCOUNTS = 1_000
const EXPIRY_MARGIN_S = 60

/** Google's token URL. The URL in a key file is ignored, because anyone who receives the assertion can use it. */
const TOKEN_URL = 'https://oauth2.googleapis.com/token'

/** Exchanges a signed assertion for a token (RFC 7523). */
async function exchangeAssertion(account: ServiceAccount, { fetch, clock }: { fetch: UpstreamFetch; clock: Clock }) {
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: await signAssertion(account, clock.now()),
  })
  const call: UpstreamCall = {
    method: 'POST',
    url: TOKEN_URL,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: body.toString(),
  }
  const limits = { headersTimeoutMs: 10_000, idleTimeoutMs: 10_000, totalTimeoutMs: 20_000 }
  const { status, body: stream } = await new ProviderCall({ clock, limits }).open(call, fetch)
  const response = tryParseJson(decodeUtf8Lenient(await readAll(stream, MAX_BYTES, () => createTokenError('too_long'))))
  const { access_token: token, expires_in: seconds, error } = isObject(response) ? response : {}
  if (status === 200 && typeof token === 'string' && FIELD_VALUE_PATTERN.test(token))
    return { token, seconds: typeof seconds === 'number' ? seconds : 0 }
  if (status === 429 || status >= 500)
    throw gatewayError('UPSTREAM_FAILED', {
      message: `Google did not issue a token for the service account (status ${status}).`,
    })
  throw createTokenError(typeof error === 'string' && /^\w{1,40}$/.test(error) ? error : String(status))
}

const MAX_BYTES = 64 * 1_024
const FIELD_VALUE_PATTERN = /^[\x21-\x7e]+$/

const createTokenError = (reason: string) =>
  gatewayError('UPSTREAM_CREDENTIALS', { message: `Google did not issue a token for the service account (${reason}).` })

/** Creates a JWT, signed with RS256 (RFC 7519). It is valid for an hour, the longest that Google accepts. */
async function signAssertion({ email, privateKey, keyId }: ServiceAccount, now: number): Promise<string> {
  const issuedAt = Math.floor(now / 1_000)
  const jwt = new SignJWT({ scope: TOKEN_SCOPE })
    .setProtectedHeader({ alg: JWT_ALGORITHM, typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
    .setIssuer(email)
    .setAudience(TOKEN_URL)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + 3_600)
  try {
    return await jwt.sign(await importKey(privateKey))
  } catch {
    throw gatewayError('UPSTREAM_CREDENTIALS', {
      message: 'The service account\'s private key cannot be read. Set "apiKey" to the complete key file.',
    })
  }
}

/** Imports a PKCS #8 private key, as in key files. Rejects if it is something else. */
function importKey(pem: string): Promise<CryptoKey> {
  const [, base64 = ''] =
    /^-----BEGIN PRIVATE KEY-----([\w+/=\s]+)(?:-----END PRIVATE KEY-----)?$/.exec(pem.trim()) ?? []
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  return crypto.subtle.importKey('pkcs8', fromBase64(base64), algorithm, false, ['sign'])
}

const TOKEN_SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const JWT_ALGORITHM = 'RS256'
