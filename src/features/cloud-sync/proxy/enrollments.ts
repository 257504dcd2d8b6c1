import { encodeUtf8, isEqualInConstantTime } from '../../../lib/bytes.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { digestText } from '../cryptography.ts'
import type { Documents } from './documents.ts'
import { createProxyError } from './proxy-errors.ts'

/** The gateways that may open sessions. A gateway enrolls by opening its first session with the enrollment token. */
export class Enrollments {
  readonly #documents: Documents
  readonly #token: string | undefined

  /** Without a token, no gateway can enroll. */
  constructor(documents: Documents, token: string | undefined) {
    this.#documents = documents
    this.#token = token
  }

  /** Returns the number of enrollments so far. */
  async count(): Promise<number> {
    return (await this.#documents.read(ENROLLED_KEY, parseCount))?.value.count ?? 0
  }

  /** Finds a gateway's public key and the number of its enrollment. */
  async find(tenant: string): Promise<{ publicKey: string; count: number } | undefined> {
    return (await this.#documents.read(getEnrollmentKey(tenant), parseEnrollment))?.value
  }

  async add(tenant: string, publicKey: string): Promise<void> {
    let count = 0
    await this.#documents.update(ENROLLED_KEY, parseCount, (current) => {
      count = (current?.count ?? 0) + 1
      return { count }
    })
    await this.#documents.write(getEnrollmentKey(tenant), { publicKey, count }, { ifVersion: null })
  }

  async remove(tenant: string): Promise<void> {
    await this.#documents.remove(getEnrollmentKey(tenant))
  }

  async matchesToken(presentedToken: string | undefined): Promise<boolean> {
    if (this.#token === undefined || presentedToken === undefined) return false
    const [expected, actual] = await Promise.all([digestText(this.#token), digestText(presentedToken)])
    return isEqualInConstantTime(encodeUtf8(expected), encodeUtf8(actual))
  }

  /** Creates the error for a gateway that isn't enrolled and presents no token or a wrong one. */
  createTokenError(presentedToken: string | undefined): Error {
    if (this.#token === undefined) return createProxyError('NOT_ENROLLED', NO_ENROLLMENT_MESSAGE)
    return presentedToken === undefined
      ? createProxyError('NOT_ENROLLED')
      : createProxyError('NOT_ENROLLED', WRONG_ENROLLMENT_MESSAGE)
  }
}

/** Returns an enrollment's storage key. Uses the spelling of early releases, so gateways stay enrolled. */
const getEnrollmentKey = (tenant: string) => `enrolments/${tenant}`
/**
 * The storage key for the number of enrollments. The number shows whether a challenge predates an enrollment. Clocks can't show that, because they
 * may jump back.
 */
const ENROLLED_KEY = 'challenges/enrolled'

const NO_ENROLLMENT_MESSAGE =
  'This cloud proxy does not enroll gateways because it was created without an enrollment token: createCloudProxy({ enrollmentToken }).'
const WRONG_ENROLLMENT_MESSAGE =
  'The enrollment token is wrong. Send the one that the operator of this cloud proxy set.'

const parseEnrollment = ({ publicKey, count = 0 }: JsonObject) =>
  typeof publicKey === 'string' && typeof count === 'number' ? { publicKey, count } : undefined

const parseCount = ({ count }: JsonObject) => (typeof count === 'number' ? { count } : undefined)
