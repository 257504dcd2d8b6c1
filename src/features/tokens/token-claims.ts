import { type GatewayError, gatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { DataTags, Kind, UsageLimits } from '../../types.ts'

/*
 * A token is `sbt_` followed by a JWS in compact form, signed with HS256. Anyone who has the token can read its claims. With it, a browser or a
 * device acts for one account of your app.
 */

/** The permissions and limits of a token. */
export interface TokenSettings {
  /** The account's ID. */
  account: string
  plan?: string
  models?: string[]
  kinds?: Kind[]
  /** The tags that connections must have to serve the token's requests. */
  require?: DataTags
  /** The origins of the pages that may use the token. If absent, the token also works outside browsers. */
  origins?: string[]
  limits?: UsageLimits
  metadata?: Record<string, string>
}

/** A token with a valid signature. While it is cached, verifying the same token returns the same object. */
export interface VerifiedToken extends Readonly<TokenSettings> {
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
/** Maximum difference between instances' clocks, in ms. */
export const CLOCK_TOLERANCE_MS = 5_000
/** How far in the future a token's issue time may be, in ms. */
export const MAX_AHEAD_MS = 60_000
/** Maximum lifetime of a token, in seconds. */
export const MAX_LIFETIME_S = 86_400

/** Returns the default audience. It makes tokens valid at all gateways with the same secret and base path. */
export const getDefaultAudience = (basePath: string): string => `signalbox:${basePath}`

/** The claim names. They are short, because every request contains a token. */
const CLAIM_NAMES = {
  account: 'sub',
  plan: 'pln',
  models: 'mdl',
  kinds: 'knd',
  require: 'req',
  origins: 'org',
  limits: 'lim',
  metadata: 'md',
} as const satisfies Record<keyof TokenSettings, string>
const KNOWN_CLAIMS: ReadonlySet<string> = new Set([...Object.values(CLAIM_NAMES), 'iss', 'aud', 'iat', 'exp', 'jti'])

/** Converts a token's settings to claims. */
export const toClaims = (options: TokenSettings): JsonObject =>
  Object.fromEntries(
    Object.entries(CLAIM_NAMES).flatMap(([name, claim]) => {
      const value: unknown = Reflect.get(options, name)
      return value === undefined ? [] : [[claim, value]]
    }),
  )

/**
 * Converts claims created by `toClaims` back to settings. Returns `undefined` if there are unknown claims, because a newer release may have added
 * them to restrict a token.
 */
export function toTokenSettings(claims: JsonObject): TokenSettings | undefined {
  if (!Object.keys(claims).every((claim) => KNOWN_CLAIMS.has(claim))) return undefined
  const settings: JsonObject = Object.fromEntries(
    Object.entries(CLAIM_NAMES).flatMap(([name, claim]) =>
      claims[claim] === undefined ? [] : [[name, claims[claim]]],
    ),
  )
  return settings as JsonObject & TokenSettings // signed with this gateway's key, so `mint` has validated them
}

const TOKEN_MESSAGES = {
  TOKEN_INVALID: 'This token is not valid here. Get a new one from the app that issued it.',
  TOKEN_EXPIRED: 'This token has expired. Get a new one from the app that issued it.',
  TOKEN_REVOKED: 'This token has been revoked. Sign in again to get a new one.',
  TOKEN_NOT_ALLOWED: 'This token cannot be used for this request.',
}

/** Creates the error for a token. `id` is its `jti`, the only part of the token that an error may contain. */
export function createTokenError(
  code: keyof typeof TOKEN_MESSAGES,
  { id, message = TOKEN_MESSAGES[code] }: { id?: string; message?: string } = {},
): GatewayError {
  return gatewayError(code, {
    message,
    ...(id !== undefined && { data: { token: id } }),
    ...(code !== 'TOKEN_NOT_ALLOWED' && { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } }),
  })
}
