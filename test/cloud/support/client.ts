import {
  createExchangeKeyPair,
  createIdentity,
  decryptBody,
  deriveSessionSecret,
  digestText,
  encryptBody,
  type GatewayIdentity,
  importIdentity,
  importSessionKey,
  signText,
} from '../../../src/features/cloud-sync/cryptography.ts'
import {
  getOpeningText,
  getRequestContext,
  getResponseContext,
  getSignedText,
  headers,
  type OpenSession,
  paths,
  type SyncRequest,
  type SyncResponse,
} from '../../../src/features/cloud-sync/protocol.ts'
import { assert } from '../../support/suite.ts'

/** The server that receives messages. */
export interface Target {
  fetch(request: Request): Promise<Response>
}

/** A session as the gateway sees it. */
export interface OpenedHere {
  session: string
  key: CryptoKey
  counter: number
}

/** A request that a test can modify before it is sent. */
export interface Message {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

export interface Reply {
  status: number
  /** The decrypted body. */
  body: Record<string, unknown>
}

/** Creates a minimal protocol client that behaves like a gateway. */
export async function createClient(server: Target, input?: { publicKey: string; privateKey: string }) {
  const kept = input ?? (await createIdentity())
  const identity: GatewayIdentity = await importIdentity(kept)
  let opened: OpenedHere | undefined

  async function send({ method, path, headers, body }: Message): Promise<Reply> {
    const init = { method, headers, ...(body !== undefined && { body }) }
    const response = await server.fetch(new Request(`http://proxy.test${path}`, init))
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }

  const post = (path: string, body: object) =>
    send({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

  /** Creates a session-opening message in which tests can override fields. The signature covers all fields. */
  async function opening(enrollmentToken?: string, changes: Partial<OpenSession> = {}) {
    const { body } = await post(paths.challenge, {})
    const keyPair = await createExchangeKeyPair()
    const parts = {
      challenge: String(body.challenge),
      publicKey: kept.publicKey,
      exchangeKey: keyPair.publicKey,
      ...(enrollmentToken !== undefined && { enrollmentToken }),
      ...changes,
    }
    return { keyPair, message: { ...parts, signature: await signText(identity, getOpeningText(parts)), ...changes } }
  }

  /** Opens a session, or resolves to the error response. */
  async function open(enrollmentToken?: string): Promise<Reply> {
    const { keyPair, message } = await opening(enrollmentToken)
    const response = await post(paths.sessions, message)
    if (response.status !== 200) return response
    const secret = await deriveSessionSecret(keyPair, String(response.body.exchangeKey), message.challenge)
    opened = { session: String(response.body.session), key: await importSessionKey(secret), counter: 0 }
    return response
  }

  function session(): OpenedHere {
    assert.ok(opened, 'no session is open')
    return opened
  }

  /** Creates a signed message with the next counter. Tests can replace values before it is signed. */
  async function signed(method: string, path: string, content?: object, by = session()): Promise<Message> {
    const counter = ++by.counter
    const body =
      content === undefined
        ? undefined
        : JSON.stringify({
            sealed: await encryptBody(by.key, getRequestContext(by.session, counter), JSON.stringify(content)),
          })
    const bodyDigest = await digestText(body ?? '')
    const text = getSignedText({ method, path, session: by.session, counter, bodyDigest })
    return {
      method,
      path,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        [headers.session]: by.session,
        [headers.counter]: `${counter}`,
        [headers.signature]: await signText(identity, text),
      },
      ...(body !== undefined && { body }),
    }
  }

  /** Sends a signed request and decrypts the response. */
  async function call(method: string, path: string, content?: object): Promise<Reply> {
    const by = session()
    const message = await signed(method, path, content, by)
    const response = await send(message)
    if (typeof response.body.sealed !== 'string') return response
    const location = getResponseContext(by.session, Number(message.headers[headers.counter]))
    return { status: response.status, body: JSON.parse(await decryptBody(by.key, location, response.body.sealed)) }
  }

  /** Syncs and expects success. */
  async function sync(request: Partial<SyncRequest>): Promise<SyncResponse> {
    const { status, body } = await call('POST', paths.replica, { ...EMPTY, ...request })
    assert.is(status, 200, JSON.stringify(body))
    return body as unknown as SyncResponse // the type of the proxy's responses
  }

  return { kept, identity, send, post, opening, open, session, signed, call, sync }
}

export type Client = Awaited<ReturnType<typeof createClient>>

const EMPTY: SyncRequest = { mirror: null, stamp: null, changes: [], seen: [] }
