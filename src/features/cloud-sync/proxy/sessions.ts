import { encodeUtf8, isEqualInConstantTime, randomBytes, toBase64Url, toHex } from '../../../lib/bytes.ts'
import type { Exchange } from '../../../lib/exchange.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { Keyring } from '../../../records/keyring.ts'
import type { Clock } from '../../../types.ts'
import {
  createExchangeKeyPair,
  deriveSessionSecret,
  digestBytes,
  digestText,
  getGatewayId,
  importSessionKey,
  verifySignature,
} from '../cryptography.ts'
import {
  type CloudSession,
  getOpeningText,
  getSignedText,
  headers,
  type OpenSession,
  type OpenSessionResponse,
  SESSION_MS,
} from '../protocol.ts'
import type { Documents } from './documents.ts'
import { createProxyError } from './proxy-errors.ts'

/** A request signed by a gateway. */
export interface SignedRequest {
  tenant: string
  session: string
  counter: number
  /** The session's key. It encrypts the body and the response. */
  key: CryptoKey
  body: Uint8Array
}

/** The auth sessions of all tenants. */
export interface Sessions {
  challenge(): Promise<string>
  /** Opens a session. Throws `SESSION_INVALID`, `NOT_ENROLLED`, or `INVALID_MESSAGE` before anything is written for the tenant. */
  open(request: OpenSession): Promise<OpenSessionResponse>
  /** Authenticates a signed request. Throws `SESSION_INVALID` for any invalid request. Calls `readBody` only if the session exists. */
  authorize(exchange: Exchange, readBody: () => Promise<Uint8Array>): Promise<SignedRequest>
  /** Lists the tenant's sessions, oldest first. */
  list(tenant: string): Promise<CloudSession[]>
  /** Ends a session. Resolves to whether the tenant had it. */
  revoke(tenant: string, session: string): Promise<boolean>
  revokeAll(tenant: string): Promise<void>
  isEnrolled(tenant: string): Promise<boolean>
  unenroll(tenant: string): Promise<void>
}

const CHALLENGE_MS = 60_000
/** Maximum difference between the clocks of proxies on one storage, in ms. A clock may also jump back by this much. */
const CLOCK_MS = 60_000
/** Time after which no proxy accepts a challenge, in ms, even if its clock is off by the maximum. */
const USED_MS = CHALLENGE_MS + 3 * CLOCK_MS
/** The parts of a challenge: a random value, the expiry time, the number of enrolled gateways at that time, and an HMAC. */
const CHALLENGE_PATTERN = /^([\w-]{43})\.(\d{1,16})\.(\d{1,16})\.([A-Za-z0-9+/]{43}=)$/
const CHALLENGE_CONTEXT = 'cloud/challenge'
const getUsedChallengeKey = (random: string) => `challenges/${random}`

/** A session ID, which starts with the tenant ID. Neither is a secret. */
const SESSION_PATTERN = /^([0-9a-f]{64})-([0-9a-f]{32})$/
const COUNTER_PATTERN = /^[1-9]\d{0,15}$/
const MAX_SESSIONS = 100
const getSessionPrefix = (tenant: string) => `sessions/${tenant}/`
const getSecretContext = (session: string) => `cloud/sessions/${session}/secret`

/** Returns the storage key of an enrollment. Keeps the spelling from early releases, so gateways stay enrolled. */
const getEnrollmentKey = (tenant: string) => `enrolments/${tenant}`
/**
 * The storage key of the number of enrolled gateways. Because clocks may go back, that number shows whether a challenge is older than an enrollment.
 */
const ENROLLED_KEY = 'challenges/enrolled'

/** Times are in epoch ms, by the proxy's clock. */
interface Session {
  createdAt: number
  lastUsedAt: number
  /** The counter of the last accepted request. */
  counter: number
  sealedSecret: string
}

export function createSessions(deps: {
  documents: Documents
  keyring(): Promise<Keyring>
  clock: Clock
  /** The enrollment token. Without it, no gateway can enroll. */
  enrollmentToken: string | undefined
}): Sessions {
  const { documents, keyring, clock, enrollmentToken } = deps

  const processPrefix = toBase64Url(randomBytes(6)) // starts all challenges of this process

  const isAlive = ({ lastUsedAt }: Session) => clock.now() - lastUsedAt < SESSION_MS

  /** Parses a challenge. Returns `undefined` if it didn't come from this proxy or is too old. */
  async function openChallenge(challenge: string): Promise<{ random: string; enrolled: number } | undefined> {
    const [, random, expiresAt, enrolled, mac] = CHALLENGE_PATTERN.exec(challenge) ?? []
    if (random === undefined) return undefined
    if (!(await (await keyring()).verify(CHALLENGE_CONTEXT, `${random}.${expiresAt}.${enrolled}`, mac)))
      return undefined
    const remainingMs = Number(expiresAt) - clock.now()
    const least = random.startsWith(processPrefix) ? 0 : -CLOCK_MS
    return remainingMs > least && remainingMs <= CHALLENGE_MS + CLOCK_MS
      ? { random, enrolled: Number(enrolled) }
      : undefined
  }

  const countEnrolled = async () => (await documents.read(ENROLLED_KEY, parseCount))?.value.count ?? 0

  async function enroll(tenant: string, publicKey: string): Promise<void> {
    let count = 0
    await documents.change(ENROLLED_KEY, parseCount, (before) => {
      count = (before?.count ?? 0) + 1
      return { count }
    })
    await documents.write(getEnrollmentKey(tenant), { publicKey, count }, { ifVersion: null })
  }

  async function isEnrollmentToken(presented: string | undefined): Promise<boolean> {
    if (enrollmentToken === undefined || presented === undefined) return false
    const [expected, actual] = await Promise.all([digestText(enrollmentToken), digestText(presented)])
    return isEqualInConstantTime(encodeUtf8(expected), encodeUtf8(actual))
  }

  const createNotEnrolled = (presented: string | undefined) => {
    if (enrollmentToken === undefined) return createProxyError('NOT_ENROLLED', NO_ENROLLMENT_MESSAGE)
    return presented === undefined
      ? createProxyError('NOT_ENROLLED')
      : createProxyError('NOT_ENROLLED', WRONG_ENROLLMENT_MESSAGE)
  }

  const readEnrollment = async (tenant: string) =>
    (await documents.read(getEnrollmentKey(tenant), parseEnrollment))?.value

  async function discardOldest(tenant: string): Promise<void> {
    const sessions: Array<{ key: string; value: Session }> = []
    for await (const session of documents.list(getSessionPrefix(tenant), parseSession)) sessions.push(session)
    const surplus = sessions
      .toSorted((a, b) => a.value.lastUsedAt - b.value.lastUsedAt)
      .slice(0, Math.max(0, sessions.length - MAX_SESSIONS + 1))
    for (const { key } of surplus) await documents.remove(getSessionPrefix(tenant) + key)
  }

  return {
    async challenge() {
      const random = processPrefix + toBase64Url(randomBytes(26))
      const text = `${random}.${clock.now() + CHALLENGE_MS}.${await countEnrolled()}`
      return `${text}.${await (await keyring()).sign(CHALLENGE_CONTEXT, text)}`
    },

    async open({ signature, ...openingRequest }) {
      const { challenge, publicKey, exchangeKey, enrollmentToken: presented } = openingRequest
      const created = await openChallenge(challenge)
      if (!created || !(await verifySignature(publicKey, getOpeningText(openingRequest), signature)))
        throw createProxyError('SESSION_INVALID', INVALID_OPENING_MESSAGE)
      const tenant = await getGatewayId(publicKey)
      const enrolled = await readEnrollment(tenant)
      if ((!enrolled || created.enrolled < enrolled.count) && !(await isEnrollmentToken(presented))) {
        // A message that was rejected before the gateway enrolled didn't use up its challenge, so it may be a replay.
        throw enrolled ? createProxyError('SESSION_INVALID', INVALID_OPENING_MESSAGE) : createNotEnrolled(presented)
      }

      const keyPair = await createExchangeKeyPair()
      const secret = await deriveSessionSecret(keyPair, exchangeKey, challenge).catch(() => {
        throw createProxyError('INVALID_MESSAGE', '"exchangeKey" must be a raw public key of ECDH P-256, in base64.')
      })
      const isFirst = await documents.write(
        getUsedChallengeKey(created.random),
        {},
        { ifVersion: null, ttlMs: USED_MS },
      )
      if (!isFirst) throw createProxyError('SESSION_INVALID', INVALID_OPENING_MESSAGE)
      if (!enrolled) await enroll(tenant, publicKey)
      await discardOldest(tenant)
      const name = toHex(randomBytes(16))
      const session = `${tenant}-${name}`
      const now = clock.now()
      const sealedSecret = await (await keyring()).encrypt(getSecretContext(session), secret)
      const record: Session = { createdAt: now, lastUsedAt: now, counter: 0, sealedSecret }
      await documents.write(getSessionPrefix(tenant) + name, record, { ifVersion: null, ttlMs: SESSION_MS })
      return { session, exchangeKey: keyPair.publicKey }
    },

    async authorize(exchange, readBody) {
      const session = exchange.header(headers.session) ?? ''
      const counter = Number(COUNTER_PATTERN.exec(exchange.header(headers.counter) ?? '')?.[0])
      const signature = exchange.header(headers.signature)
      const [, tenant, name] = SESSION_PATTERN.exec(session) ?? []
      if (tenant === undefined || signature === undefined || !Number.isSafeInteger(counter) || exchange.query !== '')
        throw createProxyError('SESSION_INVALID')
      const key = getSessionPrefix(tenant) + name
      const canReplace = (value: Session) => isAlive(value) && counter > value.counter

      let [found, enrolled] = await Promise.all([
        documents.read(key, parseSession),
        documents.read(getEnrollmentKey(tenant), parseEnrollment),
      ])
      if (!found || !enrolled || !canReplace(found.value)) throw createProxyError('SESSION_INVALID')
      const { publicKey } = enrolled.value
      const body = await readBody()
      const bodyDigest = await digestBytes(new Uint8Array(body))
      const text = getSignedText({ method: exchange.method, path: exchange.path, session, counter, bodyDigest })
      const isGenuine =
        (await getGatewayId(publicKey)) === tenant && (await verifySignature(publicKey, text, signature))
      if (!isGenuine) throw createProxyError('SESSION_INVALID')

      for (;;) {
        if (!found || !canReplace(found.value)) throw createProxyError('SESSION_INVALID')
        const next: Session = { ...found.value, counter, lastUsedAt: clock.now() }
        if (await documents.write(key, next, { ifVersion: found.version, ttlMs: SESSION_MS })) break
        found = await documents.read(key, parseSession)
      }
      const { sealedSecret } = found.value
      const secret = await (await keyring()).decrypt(getSecretContext(session), sealedSecret).catch(() => {
        throw createProxyError('SESSION_INVALID') // the session was encrypted before the proxy had its secret
      })
      return { tenant, session, counter, key: await importSessionKey(secret), body }
    },

    async list(tenant) {
      const sessions: CloudSession[] = []
      for await (const { key, value } of documents.list(getSessionPrefix(tenant), parseSession)) {
        const [createdAt, lastUsedAt] = [value.createdAt, value.lastUsedAt].map((time) => new Date(time).toISOString())
        if (isAlive(value) && createdAt && lastUsedAt) sessions.push({ id: `${tenant}-${key}`, createdAt, lastUsedAt })
      }
      return sessions.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
    },

    async revoke(tenant, session) {
      const [, owner, name] = SESSION_PATTERN.exec(session) ?? []
      return owner === tenant && documents.remove(getSessionPrefix(tenant) + name)
    },

    revokeAll: (tenant) => documents.removeAll(getSessionPrefix(tenant)),
    isEnrolled: async (tenant) => (await readEnrollment(tenant)) !== undefined,
    unenroll: async (tenant) => void (await documents.remove(getEnrollmentKey(tenant))),
  }
}

const NO_ENROLLMENT_MESSAGE =
  'This cloud proxy does not enroll gateways because it was created without an enrollment token: createCloudProxy({ enrollmentToken }).'
const WRONG_ENROLLMENT_MESSAGE =
  'The enrollment token is wrong. Send the one that the operator of this cloud proxy set.'
const INVALID_OPENING_MESSAGE =
  'The session cannot be opened because the challenge was already used, is too old, or came from another proxy, or because the signature does not match.'

function parseSession({ createdAt, lastUsedAt, counter, sealedSecret }: JsonObject): Session | undefined {
  const isWhole = [createdAt, lastUsedAt, counter].every((value) => Number.isSafeInteger(value))
  if (!isWhole || typeof sealedSecret !== 'string') return undefined
  return { createdAt: Number(createdAt), lastUsedAt: Number(lastUsedAt), counter: Number(counter), sealedSecret }
}

const parseEnrollment = ({ publicKey, count = 0 }: JsonObject) =>
  typeof publicKey === 'string' && typeof count === 'number' ? { publicKey, count } : undefined

const parseCount = ({ count }: JsonObject) => (typeof count === 'number' ? { count } : undefined)
