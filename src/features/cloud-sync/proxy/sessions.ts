import { randomBytes, toHex } from '../../../lib/bytes.ts'
import type { Exchange } from '../../../lib/exchange.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { Keyring } from '../../../records/keyring.ts'
import type { Clock } from '../../../types.ts'
import {
  createExchangeKeyPair,
  deriveSessionSecret,
  digestBytes,
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
import { Challenges } from './challenges.ts'
import type { Documents } from './documents.ts'
import { Enrollments } from './enrollments.ts'
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
  createChallenge(): Promise<string>
  /** Opens a session. Throws `SESSION_INVALID`, `NOT_ENROLLED`, or `INVALID_MESSAGE` before writing anything for the tenant. */
  open(request: OpenSession): Promise<OpenSessionResponse>
  /** Authenticates a signed request. Throws `SESSION_INVALID` for an invalid request. Calls `readBody` only if the session exists. */
  authorize(exchange: Exchange, readBody: () => Promise<Uint8Array>): Promise<SignedRequest>
  /** Lists the tenant's sessions, oldest first. */
  list(tenant: string): Promise<CloudSession[]>
  /** Ends a session. Resolves to whether the tenant had it. */
  revoke(tenant: string, session: string): Promise<boolean>
  revokeAll(tenant: string): Promise<void>
  isEnrolled(tenant: string): Promise<boolean>
  unenroll(tenant: string): Promise<void>
}

/** Matches a session ID, which starts with the tenant ID. Neither ID is secret. */
const SESSION_PATTERN = /^([0-9a-f]{64})-([0-9a-f]{32})$/
const COUNTER_PATTERN = /^[1-9]\d{0,15}$/
const MAX_SESSIONS = 100
const getSessionPrefix = (tenant: string) => `sessions/${tenant}/`
const getSecretContext = (session: string) => `cloud/sessions/${session}/secret`

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
  const { documents, keyring, clock } = deps
  const challenges = new Challenges(deps)
  const enrollments = new Enrollments(documents, deps.enrollmentToken)

  const isAlive = ({ lastUsedAt }: Session) => clock.now() - lastUsedAt < SESSION_MS

  async function discardOldestSessions(tenant: string): Promise<void> {
    const sessions: Array<{ key: string; value: Session }> = []
    for await (const session of documents.list(getSessionPrefix(tenant), parseSession)) sessions.push(session)
    const surplusSessions = sessions
      .toSorted((a, b) => a.value.lastUsedAt - b.value.lastUsedAt)
      .slice(0, Math.max(0, sessions.length - MAX_SESSIONS + 1))
    for (const { key } of surplusSessions) await documents.remove(getSessionPrefix(tenant) + key)
  }

  return {
    createChallenge: async () => challenges.create(await enrollments.count()),

    async open({ signature, ...openingRequest }) {
      const { challenge, publicKey, exchangeKey, enrollmentToken: presentedToken } = openingRequest
      const parsedChallenge = await challenges.parse(challenge)
      if (!parsedChallenge || !(await verifySignature(publicKey, getOpeningText(openingRequest), signature)))
        throw createProxyError('SESSION_INVALID', INVALID_OPENING_MESSAGE)
      const tenant = await getGatewayId(publicKey)
      const enrollment = await enrollments.find(tenant)
      if (
        (!enrollment || parsedChallenge.enrolledCount < enrollment.count) &&
        !(await enrollments.matchesToken(presentedToken))
      ) {
        // A message that was rejected before the gateway enrolled didn't use its challenge, so it may be a replay.
        throw enrollment
          ? createProxyError('SESSION_INVALID', INVALID_OPENING_MESSAGE)
          : enrollments.createTokenError(presentedToken)
      }

      const keyPair = await createExchangeKeyPair()
      const secret = await deriveSessionSecret(keyPair, exchangeKey, challenge).catch(() => {
        throw createProxyError('INVALID_MESSAGE', '"exchangeKey" must be a raw public key of ECDH P-256, in base64.')
      })
      if (!(await challenges.markUsed(parsedChallenge.nonce)))
        throw createProxyError('SESSION_INVALID', INVALID_OPENING_MESSAGE)
      if (!enrollment) await enrollments.add(tenant, publicKey)
      await discardOldestSessions(tenant)
      const sessionName = toHex(randomBytes(16))
      const session = `${tenant}-${sessionName}`
      const now = clock.now()
      const sealedSecret = await (await keyring()).encrypt(getSecretContext(session), secret)
      const record: Session = { createdAt: now, lastUsedAt: now, counter: 0, sealedSecret }
      await documents.write(getSessionPrefix(tenant) + sessionName, record, { ifVersion: null, ttlMs: SESSION_MS })
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

      let [storedSession, enrollment] = await Promise.all([documents.read(key, parseSession), enrollments.find(tenant)])
      if (!storedSession || !enrollment || !canReplace(storedSession.value)) throw createProxyError('SESSION_INVALID')
      const { publicKey } = enrollment
      const body = await readBody()
      const bodyDigest = await digestBytes(new Uint8Array(body))
      const text = getSignedText({ method: exchange.method, path: exchange.path, session, counter, bodyDigest })
      const isGenuine =
        (await getGatewayId(publicKey)) === tenant && (await verifySignature(publicKey, text, signature))
      if (!isGenuine) throw createProxyError('SESSION_INVALID')

      for (;;) {
        if (!storedSession || !canReplace(storedSession.value)) throw createProxyError('SESSION_INVALID')
        const updatedSession: Session = { ...storedSession.value, counter, lastUsedAt: clock.now() }
        if (await documents.write(key, updatedSession, { ifVersion: storedSession.version, ttlMs: SESSION_MS })) break
        storedSession = await documents.read(key, parseSession)
      }
      const { sealedSecret } = storedSession.value
      const secret = await (await keyring()).decrypt(getSecretContext(session), sealedSecret).catch(() => {
        throw createProxyError('SESSION_INVALID') // the session was encrypted before the proxy got its secret
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
    isEnrolled: async (tenant) => (await enrollments.find(tenant)) !== undefined,
    unenroll: (tenant) => enrollments.remove(tenant),
  }
}

const INVALID_OPENING_MESSAGE =
  'The session cannot be opened because the challenge was already used, is too old, or came from another proxy, or because the signature does not match.'

function parseSession({ createdAt, lastUsedAt, counter, sealedSecret }: JsonObject): Session | undefined {
  const hasValidNumbers = [createdAt, lastUsedAt, counter].every((value) => Number.isSafeInteger(value))
  if (!hasValidNumbers || typeof sealedSecret !== 'string') return undefined
  return { createdAt: Number(createdAt), lastUsedAt: Number(lastUsedAt), counter: Number(counter), sealedSecret }
}
