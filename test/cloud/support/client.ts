import {
  createExchangeHalf,
  createIdentity,
  digestOfText,
  type Identity,
  importIdentity,
  openBody,
  sealBody,
  sessionKey,
  sessionSecret,
  sign,
} from '../../../src/sync/cryptography.ts'
import {
  answerPlace,
  headers,
  type OpenSession,
  openingText,
  paths,
  requestPlace,
  type SyncAnswer,
  type SyncRequest,
  signedText,
} from '../../../src/sync/protocol.ts'
import { assert } from '../../support/suite.ts'

/** Where messages go. */
export interface Door {
  fetch(request: Request): Promise<Response>
}

/** A session as a gateway has it. */
export interface OpenedHere {
  session: string
  key: CryptoKey
  counter: number
}

/** A request as it is sent, of which a test may change any part. */
export interface Message {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

export interface Answer {
  status: number
  /** What was sealed is opened. */
  body: Record<string, unknown>
}

/** A small client of the protocol, as a gateway is one. */
export async function createClient(door: Door, given?: { publicKey: string; privateKey: string }) {
  const kept = given ?? (await createIdentity())
  const identity: Identity = await importIdentity(kept)
  let opened: OpenedHere | undefined

  async function send({ method, path, headers, body }: Message): Promise<Answer> {
    const init = { method, headers, ...(body !== undefined && { body }) }
    const response = await door.fetch(new Request(`http://proxy.test${path}`, init))
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }

  const post = (path: string, body: object) =>
    send({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

  /** An opening with whatever a test puts in place of its members; the signature is over all of them. */
  async function opening(enrolment?: string, changes: Partial<OpenSession> = {}) {
    const { body } = await post(paths.challenge, {})
    const half = await createExchangeHalf()
    const parts = {
      challenge: String(body.challenge),
      publicKey: kept.publicKey,
      exchangeKey: half.publicKey,
      ...(enrolment !== undefined && { enrolment }),
      ...changes,
    }
    return { half, message: { ...parts, signature: await sign(identity, openingText(parts)), ...changes } }
  }

  /** Opens a session, or resolves to what was answered instead. */
  async function open(enrolment?: string): Promise<Answer> {
    const { half, message } = await opening(enrolment)
    const answer = await post(paths.sessions, message)
    if (answer.status !== 200) return answer
    const secret = await sessionSecret(half, String(answer.body.exchangeKey), message.challenge)
    opened = { session: String(answer.body.session), key: await sessionKey(secret), counter: 0 }
    return answer
  }

  function session(): OpenedHere {
    assert.ok(opened, 'no session is open')
    return opened
  }

  /** A signed message with the next counter, or with the parts that a test puts in its place before it is signed. */
  async function signed(method: string, path: string, content?: object, by = session()): Promise<Message> {
    const counter = ++by.counter
    const body =
      content === undefined
        ? undefined
        : JSON.stringify({
            sealed: await sealBody(by.key, requestPlace(by.session, counter), JSON.stringify(content)),
          })
    const bodyDigest = await digestOfText(body ?? '')
    const text = signedText({ method, path, session: by.session, counter, bodyDigest })
    return {
      method,
      path,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        [headers.session]: by.session,
        [headers.counter]: `${counter}`,
        [headers.signature]: await sign(identity, text),
      },
      ...(body !== undefined && { body }),
    }
  }

  /** Sends a signed request and opens its answer. */
  async function call(method: string, path: string, content?: object): Promise<Answer> {
    const by = session()
    const message = await signed(method, path, content, by)
    const answer = await send(message)
    if (typeof answer.body.sealed !== 'string') return answer
    const place = answerPlace(by.session, Number(message.headers[headers.counter]))
    return { status: answer.status, body: JSON.parse(await openBody(by.key, place, answer.body.sealed)) }
  }

  /** Syncs and expects success. */
  async function sync(request: Partial<SyncRequest>): Promise<SyncAnswer> {
    const { status, body } = await call('POST', paths.mirror, { ...EMPTY, ...request })
    assert.is(status, 200, JSON.stringify(body))
    return body as unknown as SyncAnswer // the proxy's own type
  }

  return { kept, identity, send, post, opening, open, session, signed, call, sync }
}

export type Client = Awaited<ReturnType<typeof createClient>>

const EMPTY: SyncRequest = { mirror: null, stamp: null, changes: [], seen: [] }
