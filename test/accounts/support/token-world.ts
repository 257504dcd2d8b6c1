import { CompactSign } from 'jose/jws/compact/sign'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createMinter, type MintDependencies } from '../../../src/features/tokens/mint.ts'
import { createRevocations } from '../../../src/features/tokens/revocations.ts'
import { createTokenKeys } from '../../../src/features/tokens/token-keys.ts'
import { createTokenVerifier } from '../../../src/features/tokens/verify.ts'
import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { createFreshnessTracker } from '../../../src/records/cached.ts'
import type { Secret } from '../../../src/records/open-keyring.ts'
import type { Storage } from '../../../src/types.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'

export const SECRET = 'a secret of thirty-two characters'

/** The start of the fake clock, in seconds since the Unix epoch. */
export const START_S = Date.UTC(2026, 0, 1) / 1_000

export interface TokenWorldOptions extends Partial<Pick<MintDependencies, 'allowedOrigins' | 'publicOrigin'>> {
  secret?: Secret | undefined
  storage?: Storage
  clock?: FakeClock
  audience?: string
}

/** Creates the token mint and verifier of one gateway. */
export function tokenWorld({
  storage = memoryStorage(),
  clock = fakeClock(),
  audience = 'signalbox:/ai',
  allowedOrigins = [],
  publicOrigin,
  ...options
}: TokenWorldOptions = {}) {
  const secret = 'secret' in options ? options.secret : SECRET
  const keys = createTokenKeys({ secret, storage })
  const freshness = createFreshnessTracker(storage, clock)
  const revocations = createRevocations({ storage, clock, freshness })
  const findRef = async (account: string) => `ref of ${account}`
  const deps = { keys, audience, clock, revocations, findRef }
  const findPlan = async (id: string) => (id === 'pro' ? {} : undefined)
  const mint = createMinter({ ...deps, findPlan, allowedOrigins, publicOrigin })
  const verify = createTokenVerifier(deps)
  return {
    storage,
    clock,
    keys,
    revocations,
    mint,
    verify: (token: string, headers: Record<string, string> = {}, method = 'POST') =>
      verify(token, { method, header: (name) => headers[name] }),
    revoke: (account: string) => findRef(account).then(revocations.revoke),
  }
}

/** Returns the error code with which a promise rejects, or `undefined` if it resolves. */
export const getCode = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: { code?: unknown }) => error.code ?? error,
  )

/** Returns the claims of a token that `mint` could have signed now. */
export const claims = (extra: object = {}) => ({
  iss: 'signalbox',
  aud: 'signalbox:/ai',
  sub: 'alice',
  jti: 'id',
  iat: START_S,
  exp: START_S + 900,
  ...extra,
})

/** Signs an arbitrary token with the key of a world. */
export async function forge(
  { keys }: Pick<ReturnType<typeof tokenWorld>, 'keys'>,
  payload: object,
  header: object = {},
): Promise<string> {
  const { version, key } = await keys.getSigningKey()
  const jws = await new CompactSign(encodeUtf8(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'HS256', typ: 'sbt+jwt', kid: version, ...header })
    .sign(key)
  return `sbt_${jws}`
}
