import { SignJWT } from 'jose/jwt/sign'
import { createInputError } from '../../admin/input.ts'
import { newId } from '../../lib/new-id.ts'
import type { Clock } from '../../types.ts'
import type { Revocations } from './revocations.ts'
import {
  MAX_TOKEN_LENGTH,
  TOKEN_ISSUER,
  TOKEN_PREFIX,
  TOKEN_TYPE,
  type TokenSettings,
  toClaims,
} from './token-claims.ts'
import { type MintedToken, parseNewToken } from './token-input.ts'
import type { TokenKeys } from './token-keys.ts'

export interface MintDependencies {
  keys: Pick<TokenKeys, 'getSigningKey'>
  audience: string
  clock: Pick<Clock, 'now'>
  revocations: Pick<Revocations, 'getRevokedUntil'>
  /** Computes the ref for an account's ID. */
  findRef(account: string): Promise<string>
  /** Finds a plan by its ID or name. Returns `undefined` if there is none. */
  findPlan(idOrName: string): Promise<object | undefined>
  /** The origins of other sites whose pages may call the gateway. */
  allowedOrigins: readonly string[]
  /** The gateway's own origin. Absent if unknown. */
  publicOrigin?: string | undefined
}

/** Creates the function that mints tokens. It rejects with `INVALID_REQUEST` for invalid input, or if the gateway has no secret. */
export function createMinter(deps: MintDependencies): (input: unknown) => Promise<MintedToken> {
  const { keys, audience, clock, revocations, findRef, findPlan } = deps

  async function checkPlan({ plan }: TokenSettings): Promise<void> {
    if (plan !== undefined && !(await findPlan(plan)))
      throw createInputError(`"plan" must be the ID or the name of a group; no group has "${plan}"`)
  }

  return async (input) => {
    const { options, lifetimeS } = parseNewToken(input)
    checkOrigins(options, deps)
    await checkPlan(options)
    const { version, key } = await keys.getSigningKey()
    const revokedUntil = await revocations.getRevokedUntil(await findRef(options.account))
    const issuedAt = Math.max(clock.now(), revokedUntil + 1) // later than the revocation, which therefore doesn't apply to the new token
    const expiresAt = issuedAt + lifetimeS * 1_000
    const id = newId()
    const jws = await new SignJWT({ ...toClaims(options), iss: TOKEN_ISSUER, aud: audience, jti: id })
      .setIssuedAt(issuedAt / 1_000)
      .setExpirationTime(expiresAt / 1_000)
      .setProtectedHeader({ alg: 'HS256', typ: TOKEN_TYPE, kid: version })
      .sign(key)
    const token = TOKEN_PREFIX + jws
    if (token.length > MAX_TOKEN_LENGTH) throw createTooLongError(token.length)
    return { token, id, expiresAt: new Date(expiresAt).toISOString() }
  }
}

/** Checks the origins. Preflight requests have no token, so pages of any other origin couldn't send the token. */
function checkOrigins(
  { origins = [] }: TokenSettings,
  { allowedOrigins, publicOrigin }: Pick<MintDependencies, 'allowedOrigins' | 'publicOrigin'>,
): void {
  const foreignOrigins = origins.filter((origin) => !allowedOrigins.includes(origin) && origin !== publicOrigin)
  const isGatewayOrigin = publicOrigin === undefined && foreignOrigins.length === 1 // one of the origins may be the gateway's own
  if (foreignOrigins.length === 0 || isGatewayOrigin) return
  throw createInputError(
    `"origins" must only contain the gateway's own origin and those in the option "allowedOrigins", not ${foreignOrigins.map((origin) => `"${origin}"`).join(' and ')}`,
  )
}

const createTooLongError = (length: number) =>
  createInputError(
    `The token would have ${length} characters, more than the ${MAX_TOKEN_LENGTH} that fit into a header. Shorten "models", "metadata", or "limits", or set them on the plan.`,
  )
