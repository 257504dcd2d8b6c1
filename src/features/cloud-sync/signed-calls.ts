import { isObject, type JsonObject, tryParseShallow } from '../../lib/json.ts'
import { createMutex } from '../../lib/promises.ts'
import {
  createExchangeKeyPair,
  decryptBody,
  deriveSessionSecret,
  digestText,
  encryptBody,
  type GatewayIdentity,
  importSessionKey,
  signText,
} from './cryptography.ts'
import { getOpeningText, getRequestContext, getResponseContext, getSignedText, headers, paths } from './protocol.ts'
import { type CallOptions, callProxy, createInvalidResponseError, isRejection, type ProxyCall } from './proxy-calls.ts'

/** A signed call. Its body and response are encrypted for the session. */
export interface SignedCall extends Pick<ProxyCall, 'method' | 'path'> {
  body?: object
}

/** Options for a signed call. */
export interface SignedCallOptions extends CallOptions {
  /** The enrollment token. It is sent only if the proxy reports that this gateway isn't enrolled. */
  enrollmentToken?: string | undefined
}

/** Makes a gateway's signed calls. They share one session at a time, which is kept only in memory. */
export interface SignedCalls {
  /**
   * Makes a call; calls run one at a time. Opens a session if there is none or if the proxy no longer knows the current one. Resolves to the response
   * body. Rejects with the same errors as `callProxy`.
   */
  call(call: SignedCall, options: SignedCallOptions): Promise<JsonObject>
  /** Returns the current session's ID, if any. */
  getSessionId(): string | undefined
  /** Drops the current session. */
  forgetSession(): void
}

interface SignedSession {
  cloudUrl: string
  id: string
  identity: GatewayIdentity
  key: CryptoKey
  /** The counter of the last request. */
  counter: number
}

/** Creates the signed calls. `getIdentity` returns this gateway's identity for a proxy URL. */
export function createSignedCalls({
  getIdentity,
}: {
  getIdentity(cloudUrl: string): Promise<GatewayIdentity>
}): SignedCalls {
  const runExclusive = createMutex() // calls must run one at a time, because the proxy rejects a counter that isn't larger than the last
  let currentSession: SignedSession | undefined

  async function getSession(options: SignedCallOptions): Promise<SignedSession> {
    if (currentSession?.cloudUrl === options.cloudUrl) return currentSession
    const identity = await getIdentity(options.cloudUrl)
    const openedSession = await openSession(identity, options).catch((error: unknown) => {
      const { enrollmentToken, ...callOptions } = options
      if (enrollmentToken === undefined || !isRejection(error, 'NOT_ENROLLED')) throw error
      return openSession(identity, callOptions, enrollmentToken)
    })
    currentSession = openedSession
    return openedSession
  }

  async function call(signedCall: SignedCall, options: SignedCallOptions): Promise<JsonObject> {
    options.signal.throwIfAborted()
    const session = await getSession(options)
    try {
      return await sendSigned(session, signedCall, options)
    } catch (error) {
      if (isRejection(error, 'SESSION_INVALID') && currentSession === session) currentSession = undefined
      throw error
    }
  }

  return {
    call: (signedCall, options) =>
      runExclusive(() =>
        call(signedCall, options).catch((error: unknown) => {
          if (!isRejection(error, 'SESSION_INVALID')) throw error
          return call(signedCall, options)
        }),
      ),
    getSessionId: () => currentSession?.id,
    forgetSession: () => {
      currentSession = undefined
    },
  }
}

async function openSession(
  identity: GatewayIdentity,
  options: CallOptions,
  enrollmentToken?: string,
): Promise<SignedSession> {
  const { challenge } = await callProxy({ method: 'POST', path: paths.challenge, body: '{}' }, options)
  if (typeof challenge !== 'string') throw createInvalidResponseError(options)
  const keyPair = await createExchangeKeyPair()
  const openingRequest = {
    challenge,
    publicKey: identity.publicKey,
    exchangeKey: keyPair.publicKey,
    ...(enrollmentToken !== undefined && { enrollmentToken }),
  }
  const body = JSON.stringify({
    ...openingRequest,
    signature: await signText(identity, getOpeningText(openingRequest)),
  })
  const response = await callProxy({ method: 'POST', path: paths.sessions, body, secret: enrollmentToken }, options)
  const { session: id, exchangeKey } = response
  if (typeof id !== 'string' || !isHeaderText(id) || typeof exchangeKey !== 'string')
    throw createInvalidResponseError(options)
  const secret = await deriveSessionSecret(keyPair, exchangeKey, challenge).catch(() => {
    throw createInvalidResponseError(options)
  })
  return { cloudUrl: options.cloudUrl, id, identity, key: await importSessionKey(secret), counter: 0 }
}

const isHeaderText = (text: string) => /^[\x21-\x7e]{1,200}$/.test(text)

async function sendSigned(
  session: SignedSession,
  { method, path, body }: SignedCall,
  options: CallOptions,
): Promise<JsonObject> {
  const counter = ++session.counter
  const { id, key, identity } = session
  const bodyText =
    body === undefined
      ? ''
      : JSON.stringify({ sealed: await encryptBody(key, getRequestContext(id, counter), JSON.stringify(body)) })
  const signedText = getSignedText({ method, path, session: id, counter, bodyDigest: await digestText(bodyText) })
  const { sealed } = await callProxy(
    {
      method,
      path,
      headers: {
        [headers.session]: id,
        [headers.counter]: String(counter),
        [headers.signature]: await signText(identity, signedText),
      },
      ...(body !== undefined && { body: bodyText }),
    },
    options,
  )
  const plaintext =
    typeof sealed === 'string'
      ? await decryptBody(key, getResponseContext(id, counter), sealed).catch(() => undefined)
      : undefined
  const response = plaintext === undefined ? undefined : tryParseShallow(plaintext)
  if (!isObject(response)) throw createInvalidResponseError(options)
  return response
}
