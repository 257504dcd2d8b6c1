import { randomBytes, toBase64Url } from '../../../lib/bytes.ts'
import type { Keyring } from '../../../records/keyring.ts'
import type { Clock } from '../../../types.ts'
import type { Documents } from './documents.ts'

/** The challenges that gateways sign to open sessions. A challenge is stored only once it is used. */
export class Challenges {
  readonly #documents: Documents
  readonly #keyring: () => Promise<Keyring>
  readonly #clock: Clock
  /** The prefix of all challenges from this process. */
  readonly #processPrefix = toBase64Url(randomBytes(6))

  constructor({ documents, keyring, clock }: { documents: Documents; keyring(): Promise<Keyring>; clock: Clock }) {
    this.#documents = documents
    this.#keyring = keyring
    this.#clock = clock
  }

  /** Creates a challenge. `enrolledCount` is the number of enrollments so far. */
  async create(enrolledCount: number): Promise<string> {
    const nonce = this.#processPrefix + toBase64Url(randomBytes(26))
    const text = `${nonce}.${this.#clock.now() + CHALLENGE_TTL_MS}.${enrolledCount}`
    return `${text}.${await (await this.#keyring()).sign(CHALLENGE_CONTEXT, text)}`
  }

  /** Parses a challenge. Returns `undefined` if it didn't come from this proxy or is too old. */
  async parse(challenge: string): Promise<{ nonce: string; enrolledCount: number } | undefined> {
    const [, nonce, expiresAt, enrolledCount, mac] = CHALLENGE_PATTERN.exec(challenge) ?? []
    if (nonce === undefined) return undefined
    if (!(await (await this.#keyring()).verify(CHALLENGE_CONTEXT, `${nonce}.${expiresAt}.${enrolledCount}`, mac)))
      return undefined
    const remainingMs = Number(expiresAt) - this.#clock.now()
    const minRemainingMs = nonce.startsWith(this.#processPrefix) ? 0 : -MAX_CLOCK_SKEW_MS
    return remainingMs > minRemainingMs && remainingMs <= CHALLENGE_TTL_MS + MAX_CLOCK_SKEW_MS
      ? { nonce, enrolledCount: Number(enrolledCount) }
      : undefined
  }

  /** Marks a challenge as used. Resolves to `false` if it already was. */
  markUsed(nonce: string): Promise<boolean> {
    return this.#documents.write(getUsedChallengeKey(nonce), {}, { ifVersion: null, ttlMs: USED_CHALLENGE_TTL_MS })
  }
}

const CHALLENGE_TTL_MS = 60_000
/** Maximum clock difference between proxies on one storage, in ms. A clock may also jump back by this much. */
const MAX_CLOCK_SKEW_MS = 60_000
/** How long to remember a used challenge, in ms. By then, no proxy accepts it, even if its clock is off by the maximum. */
const USED_CHALLENGE_TTL_MS = CHALLENGE_TTL_MS + 3 * MAX_CLOCK_SKEW_MS
/** Matches a challenge: a random value, the expiry time, the number of enrollments at that time, and an HMAC. */
const CHALLENGE_PATTERN = /^([\w-]{43})\.(\d{1,16})\.(\d{1,16})\.([A-Za-z0-9+/]{43}=)$/
const CHALLENGE_CONTEXT = 'cloud/challenge'
const getUsedChallengeKey = (nonce: string) => `challenges/${nonce}`
