import { type GatewayError, gatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Kind, UsageLimits } from '../../types.ts'

/*
 * A token is `sbt_` and a JWS in compact form, signed with HS256. Anyone who has it can read its claims. Its holder is a browser or a device, which
 * acts for one account of your app.
 */

/** What a token allows. */
export interface TokenTerms {
  /** The account's id. */
  account: string
  plan?: string
  models?: string[]
  kinds?: Kind[]
  /** The origins of the pages that may use it. Absent: it also works outside of browsers. */
  origins?: string[]
  limits?: UsageLimits
  metadata?: Record<string, string>
}

/** A token whose signature is right. The same object for the same token, as long as it is remembered. */
export interface VerifiedToken extends Readonly<TokenTerms> {
  readonly id: string
  /** The account's ref. */
  readonly ref: string
  /** Epoch ms. */
  readonly issuedAt: number
  /** Epoch ms. */
  readonly expiresAt: number
}

export const TOKEN_PREFIX = 'sbt_'
export const TOKEN_TYPE = 'sbt+jwt'
export const TOKEN_ISSUER = 'signalbox'
export const MAX_TOKEN_LENGTH = 1_800
/** By how much the clocks of instances may differ. */
export const CLOCK_TOLERANCE_MS = 5_000
/** How far ahead of the clock a token may have been issued. */
export const MAX_AHEAD_MS = 60_000
/** The longest lifetime of a token, in seconds. */
export const MAX_LIFETIME_S = 86_400

/** The default audience: tokens are valid at gateways with the same secret and base path. */
export const getDefaultAudience = (basePath: string): string => `signalbox:${basePath}`

/** The claims of a token, which are short because a token travels with every request. */
const CLAIMS = {
  account: 'sub',
  plan: 'pln',
  models: 'mdl',
  kinds: 'knd',
  origins: 'org',
  limits: 'lim',
  metadata: 'md',
} as const satisfies Record<keyof TokenTerms, string>
const KNOWN: ReadonlySet<string> = new Set([...Object.values(CLAIMS), 'iss', 'aud', 'iat', 'exp', 'jti'])

/** The claims of these terms. */
export const toClaims = (terms: TokenTerms): JsonObject =>
  Object.fromEntries(
    Object.entries(CLAIMS).flatMap(([name, claim]) => {
      const value: unknown = Reflect.get(terms, name)
      return value === undefined ? [] : [[claim, value]]
    }),
  )

/** The terms of claims that `toClaims` has made; `undefined` if there are others, which a newer release may add to restrict a token. */
export function toTerms(claims: JsonObject): TokenTerms | undefined {
  if (!Object.keys(claims).every((claim) => KNOWN.has(claim))) return undefined
  const terms: JsonObject = Object.fromEntries(
    Object.entries(CLAIMS).flatMap(([name, claim]) => (claims[claim] === undefined ? [] : [[name, claims[claim]]])),
  )
  return terms as JsonObject & TokenTerms // signed with this gateway's key, so `mint` has checked them
}

const MESSAGES = {
  TOKEN_INVALID: 'This token is not valid here. Get a new one from the app that issued it.',
  TOKEN_EXPIRED: 'This token has expired. Get a new one from the app that issued it.',
  TOKEN_REVOKED: 'This token has been revoked. Sign in again to get a new one.',
  TOKEN_NOT_ALLOWED: 'This token cannot be used for this request.',
}

/** The error of a token. `id`: its `jti`, all that may be said of it. */
export function createTokenError(
  code: keyof typeof MESSAGES,
  { id, message = MESSAGES[code] }: { id?: string; message?: string } = {},
): GatewayError {
  return gatewayError(code, {
    message,
    ...(id !== undefined && { data: { token: id } }),
    ...(code !== 'TOKEN_NOT_ALLOWED' && { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } }),
  })
}
