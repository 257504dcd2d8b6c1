import { isObject, type JsonObject, tryParseShallow } from '../lib/json.ts'
import { createMutex } from '../lib/promises.ts'
import {
  createExchangeHalf,
  digestOfText,
  type Identity,
  openBody,
  sealBody,
  sessionKey,
  sessionSecret,
  sign,
} from './cryptography.ts'
import { answerPlace, headers, openingText, paths, requestPlace, signedText } from './protocol.ts'
import { type CallOptions, callProxy, invalidAnswer, isRefusal, type ProxyCall } from './proxy-calls.ts'

/** A call that is signed, and whose body and answer are sealed for the session. */
export interface SignedCall extends Pick<ProxyCall, 'method' | 'path'> {
  body?: object
}

/** How a signed call reaches the proxy. */
export interface SignedCallOptions extends CallOptions {
  /** The enrolment credential: sent when the proxy says that this gateway has not enrolled, and not before. */
  enrolment?: string | undefined
}

/** The signed calls of a gateway, over one session at a time, which is kept in memory only. */
export interface SignedCalls {
  /**
   * Makes a call, after opening a session when there is none or the proxy knows it no more; one at a time. Resolves to the body of the answer;
   * rejects as `callProxy` does.
   */
  call(call: SignedCall, options: SignedCallOptions): Promise<JsonObject>
  /** The id of the session in use, if there is one. */
  session(): string | undefined
  /** The session is not used any more. */
  forget(): void
}

interface SignedSession {
  cloudUrl: string
  id: string
  identity: Identity
  key: CryptoKey
  /** Of the last request. */
  counter: number
}

/** `identityAt`: this gateway's at the proxy of an address. */
export function createSignedCalls({ identityAt }: { identityAt(cloudUrl: string): Promise<Identity> }): SignedCalls {
  const inTurn = createMutex() // the proxy refuses a counter that is smaller than one before
  let session: SignedSession | undefined

  /** The session at this address, opened when there is none. */
  async function sessionAt(options: SignedCallOptions): Promise<SignedSession> {
    if (session?.cloudUrl === options.cloudUrl) return session
    const identity = await identityAt(options.cloudUrl)
    const opened = await openSession(identity, options).catch((error: unknown) => {
      const { enrolment, ...anew } = options
      if (enrolment === undefined || !isRefusal(error, 'NOT_ENROLLED')) throw error
      return openSession(identity, anew, enrolment)
    })
    session = opened
    return opened
  }

  async function call(one: SignedCall, options: SignedCallOptions): Promise<JsonObject> {
    options.signal.throwIfAborted()
    const used = await sessionAt(options)
    try {
      return await callIn(used, one, options)
    } catch (error) {
      if (isRefusal(error, 'SESSION_INVALID') && session === used) session = undefined
      throw error
    }
  }

  return {
    call: (one, options) =>
      inTurn(() =>
        call(one, options).catch((error: unknown) => {
          if (!isRefusal(error, 'SESSION_INVALID')) throw error
          return call(one, options)
        }),
      ),
    session: () => session?.id,
    forget: () => {
      session = undefined
    },
  }
}

async function openSession(identity: Identity, options: CallOptions, enrolment?: string): Promise<SignedSession> {
  const { challenge } = await callProxy({ method: 'POST', path: paths.challenge, body: '{}' }, options)
  if (typeof challenge !== 'string') throw invalidAnswer(options)
  const half = await createExchangeHalf()
  const opening = {
    challenge,
    publicKey: identity.publicKey,
    exchangeKey: half.publicKey,
    ...(enrolment !== undefined && { enrolment }),
  }
  const body = JSON.stringify({ ...opening, signature: await sign(identity, openingText(opening)) })
  const opened = await callProxy({ method: 'POST', path: paths.sessions, body, secret: enrolment }, options)
  const { session: id, exchangeKey } = opened
  if (typeof id !== 'string' || !isHeaderText(id) || typeof exchangeKey !== 'string') throw invalidAnswer(options)
  const secret = await sessionSecret(half, exchangeKey, challenge).catch(() => {
    throw invalidAnswer(options)
  })
  return { cloudUrl: options.cloudUrl, id, identity, key: await sessionKey(secret), counter: 0 }
}

const isHeaderText = (text: string) => /^[\x21-\x7e]{1,200}$/.test(text)

async function callIn(
  session: SignedSession,
  { method, path, body }: SignedCall,
  options: CallOptions,
): Promise<JsonObject> {
  const counter = ++session.counter
  const { id, key, identity } = session
  const text =
    body === undefined
      ? ''
      : JSON.stringify({ sealed: await sealBody(key, requestPlace(id, counter), JSON.stringify(body)) })
  const signed = signedText({ method, path, session: id, counter, bodyDigest: await digestOfText(text) })
  const { sealed } = await callProxy(
    {
      method,
      path,
      headers: {
        [headers.session]: id,
        [headers.counter]: String(counter),
        [headers.signature]: await sign(identity, signed),
      },
      ...(body !== undefined && { body: text }),
    },
    options,
  )
  const plain =
    typeof sealed === 'string'
      ? await openBody(key, answerPlace(id, counter), sealed).catch(() => undefined)
      : undefined
  const answer = plain === undefined ? undefined : tryParseShallow(plain)
  if (!isObject(answer)) throw invalidAnswer(options)
  return answer
}
