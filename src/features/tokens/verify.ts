import { jwtVerify } from 'jose/jwt/verify'
import { isGatewayError } from '../../errors.ts'
import type { Exchange } from '../../lib/exchange.ts'
import { evictOldest } from '../../lib/maps.ts'
import { sha256Hex } from '../../records/keyring.ts'
import type { Clock } from '../../types.ts'
import type { Revocations } from './revocations.ts'
import {
  CLOCK_TOLERANCE_MS,
  createTokenError,
  MAX_AHEAD_MS,
  MAX_TOKEN_LENGTH,
  TOKEN_ISSUER,
  TOKEN_PREFIX,
  TOKEN_TYPE,
  toTokenSettings,
  type VerifiedToken,
} from './token-claims.ts'
import type { TokenKeys } from './token-keys.ts'

/**
 * Verifies a request's token. Reads the storage only if the revocations may have changed. Rejects with `TOKEN_INVALID`, `TOKEN_EXPIRED`, or
 * `TOKEN_REVOKED`, with `TOKEN_NOT_ALLOWED` for another origin, or with the storage's error if the revocations have never been read.
 */
export type VerifyToken = (token: string, exchange: Pick<Exchange, 'method' | 'header'>) => Promise<VerifiedToken>

export interface VerifyDependencies {
  keys: Pick<TokenKeys, 'find'>
  audience: string
  clock: Pick<Clock, 'now'>
  revocations: Pick<Revocations, 'getRevokedUntil'>
  /** Computes the ref for an account's ID. */
  findRef(account: string): Promise<string>
}

/** Creates the function that verifies tokens. It caches the 20,000 most recently used tokens by SHA-256 digest. */
export function createTokenVerifier({ keys, audience, clock, revocations, findRef }: VerifyDependencies): VerifyToken {
  const verifiedTokens = new Map<string, VerifiedToken>()

  async function readToken(token: string): Promise<VerifiedToken> {
    const { payload } = await jwtVerify(token.slice(TOKEN_PREFIX.length), findKey, {
      algorithms: ['HS256'],
      typ: TOKEN_TYPE,
      issuer: TOKEN_ISSUER,
      audience,
      requiredClaims: ['sub', 'jti', 'iat', 'exp'],
      currentDate: new Date(0), // times are checked below, which includes cached tokens
    })
    const options = toTokenSettings(payload)
    const { jti: id, iat, exp } = payload
    if (!options || id === undefined || iat === undefined || exp === undefined) throw createTokenError('TOKEN_INVALID')
    return { ...options, id, issuedAt: toMs(iat), expiresAt: toMs(exp), ref: await findRef(options.account) }
  }

  async function findKey({ kid }: { kid?: string }): Promise<CryptoKey> {
    const key = await keys.find(kid)
    if (!key) throw createTokenError('TOKEN_INVALID')
    return key
  }

  /** Reads a token. Replaces errors from `jose`, because they contain the token's claims. */
  const readSafely = (token: string) =>
    readToken(token).catch((error: unknown) => {
      throw isGatewayError(error) ? error : createTokenError('TOKEN_INVALID')
    })

  function checkTimes({ id, issuedAt, expiresAt }: VerifiedToken): void {
    const now = clock.now()
    if (issuedAt > now + MAX_AHEAD_MS) throw createTokenError('TOKEN_INVALID', { id, message: FROM_FUTURE_MESSAGE })
    if (expiresAt <= now - CLOCK_TOLERANCE_MS) throw createTokenError('TOKEN_EXPIRED', { id })
  }

  return async (token, exchange) => {
    if (token.length > MAX_TOKEN_LENGTH || !TOKEN_PATTERN.test(token)) throw createTokenError('TOKEN_INVALID')
    const digest = await sha256Hex(token)
    const cachedToken = verifiedTokens.get(digest)
    verifiedTokens.delete(digest) // reinserted below as the newest entry
    const verifiedToken = cachedToken ?? (await readSafely(token))
    checkTimes(verifiedToken)
    evictOldest(verifiedTokens, MAX_CACHED_TOKENS)
    verifiedTokens.set(digest, verifiedToken)
    const { id, ref, issuedAt, origins } = verifiedToken
    if (issuedAt <= (await revocations.getRevokedUntil(ref))) throw createTokenError('TOKEN_REVOKED', { id })
    if (origins && !hasAllowedOrigin(origins, exchange))
      throw createTokenError('TOKEN_NOT_ALLOWED', { id, message: OTHER_ORIGIN_MESSAGE })
    return verifiedToken
  }
}

const toMs = (seconds: number) => Math.round(seconds * 1_000)

/** Returns whether the request comes from an allowed origin. Browsers don't send `Origin` with a `GET` request to the page's own origin. */
function hasAllowedOrigin(origins: readonly string[], exchange: Pick<Exchange, 'method' | 'header'>): boolean {
  const origin = exchange.header('origin')
  if (origin !== undefined) return origins.includes(origin)
  const isSafeMethod = exchange.method === 'GET' || exchange.method === 'HEAD'
  return isSafeMethod && exchange.header('sec-fetch-site') === 'same-origin'
}

/**
 * Matches a token. The last character of the signature can have only 16 values, because its last two bits are unused. If others were accepted, each
 * token could be written in four ways.
 */
const TOKEN_PATTERN = /^sbt_[\w-]+\.[\w-]+\.[\w-]{42}[AEIMQUYcgkosw048]$/
const MAX_CACHED_TOKENS = 20_000
const FROM_FUTURE_MESSAGE =
  'This token was issued in the future. Check the clocks of the servers that issue and accept tokens.'
const OTHER_ORIGIN_MESSAGE =
  'This token cannot be used from this origin. Get one for this page from the app that issued it.'
