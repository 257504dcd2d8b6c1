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

  /** Creates a challenge. `enrolled` is the number of enrollments so far. */
  async create(enrolled: number): Promise<string> {
    const random = this.#processPrefix + toBase64Url(randomBytes(26))
    const text = `${random}.${this.#clock.now() + CHALLENGE_MS}.${enrolled}`
    return `${text}.${await (await this.#keyring()).sign(CHALLENGE_CONTEXT, text)}`
  }

  /** Parses a challenge. Returns `undefined` if it didn't come from this proxy or is too old. */
  async parse(challenge: string): Promise<{ random: string; enrolled: number } | undefined> {
    const [, random, expiresAt, enrolled, mac] = CHALLENGE_PATTERN.exec(challenge) ?? []
    if (random === undefined) return undefined
    if (!(await (await this.#keyring()).verify(CHALLENGE_CONTEXT, `${random}.${expiresAt}.${enrolled}`, mac)))
      return undefined
    const remainingMs = Number(expiresAt) - this.#clock.now()
    const least = random.startsWith(this.#processPrefix) ? 0 : -CLOCK_MS
    return remainingMs > least && remainingMs <= CHALLENGE_MS + CLOCK_MS
      ? { random, enrolled: Number(enrolled) }
      : undefined
  }

  /** Marks a challenge as used. Resolves to `false` if it already was. */
  use(random: string): Promise<boolean> {
    return this.#documents.write(getUsedChallengeKey(random), {}, { ifVersion: null, ttlMs: USED_MS })
  }
}

const CHALLENGE_MS = 60_000
/** Maximum clock difference between proxies on one storage, in ms. A clock may also jump back by this much. */
const CLOCK_MS = 60_000
/** How long to remember a used challenge, in ms. By then, no proxy accepts it, even if its clock is off by the maximum. */
const USED_MS = CHALLENGE_MS + 3 * CLOCK_MS
/** Matches a challenge: a random value, the expiry time, the number of enrollments at that time, and an HMAC. */
const CHALLENGE_PATTERN = /^([\w-]{43})\.(\d{1,16})\.(\d{1,16})\.([A-Za-z0-9+/]{43}=)$/
const CHALLENGE_CONTEXT = 'cloud/challenge'
const getUsedChallengeKey = (random: string) => `challenges/${random}`
