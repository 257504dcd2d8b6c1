import {
  createExchangeKeyPair,
  decryptBody,
  deriveSessionSecret,
  digestText,
  encryptBody,
  getGatewayId,
  importSessionKey,
  verifySignature,
} from '../../../src/features/cloud-sync/cryptography.ts'
import {
  getOpeningText,
  getRequestContext,
  getResponseContext,
  getSignedText,
  headers,
  type OpenSession,
  type RecordState,
  type SyncRequest,
  type Verdict,
} from '../../../src/features/cloud-sync/protocol.ts'
import { countCalls, type Respond } from './faults.ts'

export const CLOUD = 'https://cloud.example/proxy'
export const ENROLLMENT_TOKEN = 'enrollment-token-with-forty-characters-1'

interface Session {
  tenant: string
  publicKey: string
  key: CryptoKey
  counter: number
}

/** A gateway's data on the proxy. */
interface Tenant {
  mirror?: { id: string; stamp: string }
  /** By collection and ID. */
  states: Map<string, RecordState>
  /** The changes to send with the next response. */
  changes: RecordState[]
}

/** A call with its number among calls of the same name: the first, second, … `POST /cloud/1/mirror`. */
export type CallName = `${'GET' | 'POST' | 'DELETE'} ${string}`

const rejectWith = (status: number, code: string, error = code) => Response.json({ error, code }, { status })

/** Creates a proxy that implements the protocol without storage or merging. Any call can be made to fail. */
export function fakeProxy() {
  const challenges = new Set<string>()
  const enrolled = new Set<string>()
  const sessions = new Map<string, Session>()
  const tenants = new Map<string, Tenant>()
  const seen: { name: CallName; body: string; plain?: unknown }[] = []
  const faults: { name: CallName; nth: number; respond: Respond; isAfter: boolean; met(): void }[] = []
  let judge: (state: RecordState) => Verdict = () => 'taken'
  let serial = 0
  const uses = new Map<CallName, number>()

  const findTenant = (id: string) => {
    const tenant: Tenant = tenants.get(id) ?? { states: new Map(), changes: [] }
    tenants.set(id, tenant)
    return tenant
  }

  async function open(body: string): Promise<Response> {
    const { signature, ...opening }: OpenSession = JSON.parse(body)
    const isFresh = challenges.delete(opening.challenge)
    if (!isFresh || !(await verifySignature(opening.publicKey, getOpeningText(opening), signature)))
      return rejectWith(401, 'SESSION_INVALID')
    const tenant = await getGatewayId(opening.publicKey)
    if (opening.enrollmentToken === ENROLLMENT_TOKEN) enrolled.add(tenant)
    if (!enrolled.has(tenant)) return rejectWith(401, 'NOT_ENROLLED', 'Send the enrollment token.')
    const keyPair = await createExchangeKeyPair()
    const key = await importSessionKey(await deriveSessionSecret(keyPair, opening.exchangeKey, opening.challenge))
    const session = `session-${++serial}`
    sessions.set(session, { tenant, publicKey: opening.publicKey, key, counter: 0 })
    return Response.json({ session, exchangeKey: keyPair.publicKey })
  }

  function perform(name: CallName, tenant: string, plain: unknown): Response | object {
    const of = findTenant(tenant)
    if (name === 'GET /cloud/1/sessions') {
      const at = '2026-01-01T00:00:00.000Z'
      return { sessions: [...sessions.keys()].map((id) => ({ id, createdAt: at, lastUsedAt: at })) }
    }
    if (name.startsWith('DELETE /cloud/1/sessions/')) {
      const id = decodeURIComponent(name.slice('DELETE /cloud/1/sessions/'.length))
      return sessions.delete(id) ? { success: true } : rejectWith(404, 'NOT_FOUND')
    }
    if (name === 'DELETE /cloud/1/mirror') {
      tenants.delete(tenant)
      for (const [id, session] of sessions) if (session.tenant === tenant) sessions.delete(id)
      return { success: true }
    }
    if (name === 'POST /cloud/1/spent') return { accounts: [] }
    const { mirror, create, stamp, full, changes } = plain as SyncRequest
    if (create) of.mirror ??= { id: `mirror-${++serial}`, stamp: `stamp-${++serial}` }
    if (!of.mirror || (!create && of.mirror.id !== mirror)) return rejectWith(409, 'MIRROR_GONE')
    if (of.mirror.id === mirror && stamp !== of.mirror.stamp && !full) return rejectWith(409, 'HISTORY_DIVERGED')
    const verdicts = changes.map((state) => {
      const verdict = judge(state)
      if (verdict === 'taken') of.states.set(`${state.collection} ${state.id}`, state)
      return verdict
    })
    if (changes.length > 0) of.mirror.stamp = `stamp-${++serial}`
    return { mirror: of.mirror.id, stamp: of.mirror.stamp, verdicts, changes: of.changes.splice(0), more: false }
  }

  async function respondSigned(name: CallName, request: Request, body: string): Promise<Response> {
    const id = request.headers.get(headers.session) ?? ''
    const counter = Number(request.headers.get(headers.counter))
    const session = sessions.get(id)
    const path = name.slice(name.indexOf(' ') + 1)
    const text = getSignedText({
      method: request.method,
      path,
      session: id,
      counter,
      bodyDigest: await digestText(body),
    })
    const signature = request.headers.get(headers.signature) ?? ''
    if (!session || counter <= session.counter || !(await verifySignature(session.publicKey, text, signature)))
      return rejectWith(401, 'SESSION_INVALID')
    session.counter = counter
    const plain =
      body === ''
        ? undefined
        : JSON.parse(await decryptBody(session.key, getRequestContext(id, counter), JSON.parse(body).sealed))
    seen.push({ name, body, plain })
    const response = perform(name, session.tenant, plain)
    if (response instanceof Response) return response
    return Response.json({
      sealed: await encryptBody(session.key, getResponseContext(id, counter), JSON.stringify(response)),
    })
  }

  const serve: Respond = async (url, init) => {
    const request = new Request(url, init)
    const name = `${request.method} ${url.slice(CLOUD.length)}` as CallName
    const index = (uses.get(name) ?? 0) + 1
    uses.set(name, index)
    const fault = faults.find((fault) => fault.name === name && fault.nth === index)
    if (fault && !fault.isAfter) {
      fault.met()
      return fault.respond(url, init)
    }
    const response = await respondTo(name, request, await request.text())
    fault?.met()
    return fault ? fault.respond(url, init, response) : response
  }

  async function respondTo(name: CallName, request: Request, body: string): Promise<Response> {
    if (name === 'GET /cloud/1') return Response.json({ service: 'signalbox-cloud', protocol: 1 })
    if (name === 'GET /v1/models') {
      seen.push({ name, body: '' })
      const digest = request.headers.get('authorization')
      return Response.json({ object: 'list', data: [] }, { status: digest?.startsWith('Bearer sbx_') ? 200 : 401 })
    }
    if (name === 'POST /cloud/1/challenges') {
      const challenge = `challenge-${++serial}`
      challenges.add(challenge)
      seen.push({ name, body })
      return Response.json({ challenge })
    }
    if (name === 'POST /cloud/1/sessions') {
      seen.push({ name, body })
      return open(body)
    }
    return respondSigned(name, request, body)
  }

  const counted = countCalls(serve)
  const getNames = () => counted.calls.map(({ url, init }) => `${init.method} ${url.slice(CLOUD.length)}` as CallName)
  return {
    fetch: counted.fetch,
    calls: counted.calls,
    /** The names of all calls. */
    names: getNames,
    open: counted.open,
    /** The calls that reached the proxy, with their decrypted bodies. */
    seen,
    sessions,
    tenants,
    enrolled,
    /** The state of the only enrolled gateway. */
    tenant: () => [...tenants.values()][0],
    /**
     * Replaces the response to the `nth` call with this name from now on. If `isAfter` is true, the proxy has done the call's work by then. Resolves
     * when the call arrives.
     */
    failAt(name: CallName, respond: Respond, { nth = 1, isAfter = false } = {}): Promise<void> {
      return new Promise((met) => void faults.push({ name, nth: (uses.get(name) ?? 0) + nth, respond, isAfter, met }))
    },
    /** Sets how the proxy handles changes. */
    judge(verdict: typeof judge) {
      judge = verdict
    },
    /** Deletes all data. */
    reset() {
      for (const kept of [challenges, enrolled, sessions, tenants]) kept.clear()
    },
  }
}
