import { encodeUtf8, isEqualInConstantTime, randomBytes, toBase64Url, toHex } from '../lib/bytes.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Vault } from '../store/vault.ts'
import {
  createExchangeHalf,
  digestOfBytes,
  digestOfText,
  gatewayId,
  isSigned,
  sessionKey,
  sessionSecret,
} from '../sync/cryptography.ts'
import {
  type CloudSession,
  headers,
  type OpenedSession,
  type OpenSession,
  openingText,
  SESSION_MS,
  signedText,
} from '../sync/protocol.ts'
import type { Clock } from '../types.ts'
import type { Documents } from './documents.ts'
import { refusal } from './refusals.ts'

/** A request that a gateway has signed. */
export interface SignedRequest {
  tenant: string
  session: string
  counter: number
  /** The key of the session, by which the body and the response are encrypted. */
  key: CryptoKey
  body: Uint8Array
}

/** The auth sessions of all tenants, and how gateways open them. */
export interface Sessions {
  challenge(): Promise<string>
  /** Throws `SESSION_INVALID`, `NOT_ENROLLED` and `INVALID_MESSAGE`, and then writes nothing for the tenant. */
  open(request: OpenSession): Promise<OpenedSession>
  /** Throws `SESSION_INVALID` for every fault. `readBody` is called only when the session exists. */
  authorise(exchange: Exchange, readBody: () => Promise<Uint8Array>): Promise<SignedRequest>
  /** The sessions of the tenant, the oldest first. */
  list(tenant: string): Promise<CloudSession[]>
  /** Resolves to whether the tenant had this session. */
  revoke(tenant: string, session: string): Promise<boolean>
  revokeAll(tenant: string): Promise<void>
  isEnrolled(tenant: string): Promise<boolean>
  unenrol(tenant: string): Promise<void>
}

const CHALLENGE_MS = 60_000
/** By how much the clocks of proxies on one storage may differ, and a clock may go back, in ms. */
const CLOCK_MS = 60_000
/** By then no proxy takes a challenge any more, whatever its clock, in ms. */
const USED_MS = CHALLENGE_MS + 3 * CLOCK_MS
/** What is its own, when it expires, how many gateways had enrolled, and the proof. */
const CHALLENGE = /^([\w-]{43})\.(\d{1,16})\.(\d{1,16})\.([A-Za-z0-9+/]{43}=)$/
const placeOfChallenge = 'cloud/challenge'
const usedChallenge = (random: string) => `challenges/${random}`

/** The form of a session's id, which begins with the tenant's id. Neither is a secret. */
const SESSION = /^([0-9a-f]{64})-([0-9a-f]{32})$/
const COUNTER = /^[1-9]\d{0,15}$/
const MAX_SESSIONS = 100
const sessionsOf = (tenant: string) => `sessions/${tenant}/`
const placeOfSecret = (session: string) => `cloud/sessions/${session}/secret`

const enrolmentOf = (tenant: string) => `enrolments/${tenant}`
/** How many gateways have enrolled: what was made before one has is told by it, as clocks may go back. */
const ENROLLED = 'challenges/enrolled'

/** Times are epoch ms, by the clock of the proxy. */
interface Session {
  createdAt: number
  lastUsedAt: number
  /** The counter of the last request that was accepted. */
  counter: number
  sealedSecret: string
}

export function createSessions(deps: {
  documents: Documents
  vault(): Promise<Vault>
  clock: Clock
  /** The enrolment credential; without one no gateway can enrol. */
  enrolment: string | undefined
}): Sessions {
  const { documents, vault, clock, enrolment } = deps

  const self = toBase64Url(randomBytes(6)) // challenges of this process begin with it

  const isAlive = ({ lastUsedAt }: Session) => clock.now() - lastUsedAt < SESSION_MS

  /** The part of a challenge that is its own, and how many had enrolled; `undefined` when it is none of this proxy, or too old. */
  async function openChallenge(challenge: string): Promise<{ random: string; enrolled: number } | undefined> {
    const [, random, expiresAt, enrolled, mac] = CHALLENGE.exec(challenge) ?? []
    if (random === undefined) return undefined
    if (!(await (await vault()).verify(placeOfChallenge, `${random}.${expiresAt}.${enrolled}`, mac))) return undefined
    const left = Number(expiresAt) - clock.now()
    const least = random.startsWith(self) ? 0 : -CLOCK_MS
    return left > least && left <= CHALLENGE_MS + CLOCK_MS ? { random, enrolled: Number(enrolled) } : undefined
  }

  const enrolledCount = async () => (await documents.read(ENROLLED, parseCount))?.value.count ?? 0

  async function enrol(tenant: string, publicKey: string): Promise<void> {
    let count = 0
    await documents.change(ENROLLED, parseCount, (before) => {
      count = (before?.count ?? 0) + 1
      return { count }
    })
    await documents.write(enrolmentOf(tenant), { publicKey, count }, { ifVersion: null })
  }

  async function isRightEnrolment(presented: string | undefined): Promise<boolean> {
    if (enrolment === undefined || presented === undefined) return false
    const [expected, given] = await Promise.all([digestOfText(enrolment), digestOfText(presented)])
    return isEqualInConstantTime(encodeUtf8(expected), encodeUtf8(given))
  }

  const notEnrolled = (presented: string | undefined) => {
    if (enrolment === undefined) return refusal('NOT_ENROLLED', NO_ENROLMENT)
    return presented === undefined ? refusal('NOT_ENROLLED') : refusal('NOT_ENROLLED', WRONG_ENROLMENT)
  }

  const enrolmentRecord = async (tenant: string) => (await documents.read(enrolmentOf(tenant), parseEnrolment))?.value

  /** Removes the sessions that were not used for the longest time, so that there is room for one more. */
  async function discardOldest(tenant: string): Promise<void> {
    const sessions: Array<{ key: string; value: Session }> = []
    for await (const session of documents.list(sessionsOf(tenant), parseSession)) sessions.push(session)
    const surplus = sessions
      .toSorted((one, other) => one.value.lastUsedAt - other.value.lastUsedAt)
      .slice(0, Math.max(0, sessions.length - MAX_SESSIONS + 1))
    for (const { key } of surplus) await documents.remove(sessionsOf(tenant) + key)
  }

  return {
    async challenge() {
      const random = self + toBase64Url(randomBytes(26))
      const text = `${random}.${clock.now() + CHALLENGE_MS}.${await enrolledCount()}`
      return `${text}.${await (await vault()).sign(placeOfChallenge, text)}`
    },

    async open({ signature, ...opening }) {
      const { challenge, publicKey, exchangeKey, enrolment: presented } = opening
      const made = await openChallenge(challenge)
      if (!made || !(await isSigned(publicKey, openingText(opening), signature)))
        throw refusal('SESSION_INVALID', OPENING_INVALID)
      const tenant = await gatewayId(publicKey)
      const enrolled = await enrolmentRecord(tenant)
      if ((!enrolled || made.enrolled < enrolled.count) && !(await isRightEnrolment(presented))) {
        // A message that was refused before the gateway enrolled has used up no challenge, and may have been recorded.
        throw enrolled ? refusal('SESSION_INVALID', OPENING_INVALID) : notEnrolled(presented)
      }

      const half = await createExchangeHalf()
      const secret = await sessionSecret(half, exchangeKey, challenge).catch(() => {
        throw refusal('INVALID_MESSAGE', '"exchangeKey" must be a raw public key of ECDH P-256, in base64.')
      })
      const isFirst = await documents.write(usedChallenge(made.random), {}, { ifVersion: null, ttlMs: USED_MS })
      if (!isFirst) throw refusal('SESSION_INVALID', OPENING_INVALID)
      if (!enrolled) await enrol(tenant, publicKey)
      await discardOldest(tenant)
      const name = toHex(randomBytes(16))
      const session = `${tenant}-${name}`
      const now = clock.now()
      const sealedSecret = await (await vault()).seal(placeOfSecret(session), secret)
      const record: Session = { createdAt: now, lastUsedAt: now, counter: 0, sealedSecret }
      await documents.write(sessionsOf(tenant) + name, record, { ifVersion: null, ttlMs: SESSION_MS })
      return { session, exchangeKey: half.publicKey }
    },

    async authorise(exchange, readBody) {
      const session = exchange.header(headers.session) ?? ''
      const counter = Number(COUNTER.exec(exchange.header(headers.counter) ?? '')?.[0])
      const signature = exchange.header(headers.signature)
      const [, tenant, name] = SESSION.exec(session) ?? []
      if (tenant === undefined || signature === undefined || !Number.isSafeInteger(counter) || exchange.query !== '')
        throw refusal('SESSION_INVALID')
      const key = sessionsOf(tenant) + name
      const mayTake = (value: Session) => isAlive(value) && counter > value.counter

      let [found, enrolled] = await Promise.all([
        documents.read(key, parseSession),
        documents.read(enrolmentOf(tenant), parseEnrolment),
      ])
      if (!found || !enrolled || !mayTake(found.value)) throw refusal('SESSION_INVALID')
      const { publicKey } = enrolled.value
      const body = await readBody()
      const bodyDigest = await digestOfBytes(new Uint8Array(body))
      const text = signedText({ method: exchange.method, path: exchange.path, session, counter, bodyDigest })
      const isGenuine = (await gatewayId(publicKey)) === tenant && (await isSigned(publicKey, text, signature))
      if (!isGenuine) throw refusal('SESSION_INVALID')

      for (;;) {
        if (!found || !mayTake(found.value)) throw refusal('SESSION_INVALID')
        const next: Session = { ...found.value, counter, lastUsedAt: clock.now() }
        if (await documents.write(key, next, { ifVersion: found.version, ttlMs: SESSION_MS })) break
        found = await documents.read(key, parseSession)
      }
      const { sealedSecret } = found.value
      const secret = await (await vault()).open(placeOfSecret(session), sealedSecret).catch(() => {
        throw refusal('SESSION_INVALID') // encrypted before the proxy had its secret
      })
      return { tenant, session, counter, key: await sessionKey(secret), body }
    },

    async list(tenant) {
      const sessions: CloudSession[] = []
      for await (const { key, value } of documents.list(sessionsOf(tenant), parseSession)) {
        const [createdAt, lastUsedAt] = [value.createdAt, value.lastUsedAt].map((at) => new Date(at).toISOString())
        if (isAlive(value) && createdAt && lastUsedAt) sessions.push({ id: `${tenant}-${key}`, createdAt, lastUsedAt })
      }
      return sessions.toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1))
    },

    async revoke(tenant, session) {
      const [, owner, name] = SESSION.exec(session) ?? []
      return owner === tenant && documents.remove(sessionsOf(tenant) + name)
    },

    revokeAll: (tenant) => documents.removeAll(sessionsOf(tenant)),
    isEnrolled: async (tenant) => (await enrolmentRecord(tenant)) !== undefined,
    unenrol: async (tenant) => void (await documents.remove(enrolmentOf(tenant))),
  }
}

const NO_ENROLMENT =
  'This cloud proxy enrols no gateway, since it was made without an enrolment credential: createCloudProxy({ enrolment }).'
const WRONG_ENROLMENT = 'The enrolment credential is wrong. Send the one that the operator of this cloud proxy has set.'
const OPENING_INVALID =
  'The session cannot be opened: the challenge was used, is too old or of another proxy, or the signature does not fit.'

function parseSession({ createdAt, lastUsedAt, counter, sealedSecret }: JsonObject): Session | undefined {
  const isWhole = [createdAt, lastUsedAt, counter].every((value) => Number.isSafeInteger(value))
  if (!isWhole || typeof sealedSecret !== 'string') return undefined
  return { createdAt: Number(createdAt), lastUsedAt: Number(lastUsedAt), counter: Number(counter), sealedSecret }
}

const parseEnrolment = ({ publicKey, count = 0 }: JsonObject) =>
  typeof publicKey === 'string' && typeof count === 'number' ? { publicKey, count } : undefined

const parseCount = ({ count }: JsonObject) => (typeof count === 'number' ? { count } : undefined)
