import { gatewayError } from '../../errors.ts'
import { isSendableCredential, listSecretVariants } from '../../lib/credential-shapes.ts'
import { runWithDeadline } from '../../lib/deadline.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { evictOldest } from '../../lib/maps.ts'
import type { ConnectionRecord } from '../../records/record-collections.ts'
import type { Clock, Cloud, CredentialRequest, CredentialSource, SharedCredentialSource } from '../../types.ts'

/** The caller that a credential may belong to. */
interface CredentialOwner {
  /** The account's ref, or else the key's ID. Empty if there is neither. */
  owner: string
  account: { id: string; plan?: { id: string } | undefined } | undefined
  key: { id: string } | undefined
}

/** The connection, caller, and model that a credential is for. */
export interface CredentialUse {
  connection: ConnectionRecord
  caller: CredentialOwner
  model: string
  cloud?: Cloud | undefined
}

type SourceFinder = (connection: ConnectionRecord) => CredentialSource | SharedCredentialSource | undefined

interface CachedCredential {
  /** The credential as text, or `undefined` if the function returned none. */
  text: Promise<string | undefined>
  reason: CredentialRequest['reason']
  /** Set once the function has returned; `expiresAt` is in epoch ms. */
  result?: { text: string | undefined; expiresAt: number }
}

const DEFAULT_TTL_MS = 5 * 60_000
const EXPIRY_MARGIN_MS = 60_000
const TIMEOUT_MS = 5_000
/** Maximum number of credentials. The oldest are evicted first. */
const MAX_CREDENTIALS = 20_000
const MAX_QUOTABLE_FORMS = 1_000

/** The credentials of connections whose `apiKey` is a function. They stay in memory only. */
export class SourcedCredentials {
  readonly #findSource: SourceFinder
  readonly #clock: Clock
  readonly #credentials = new Map<string, CachedCredential>()
  /** The forms in which a provider may quote the latest credentials, oldest first. */
  readonly #quotableForms = new Set<string>()

  constructor(findSource: SourceFinder, clock: Clock) {
    this.#findSource = findSource
    this.#clock = clock
  }

  /** Returns whether the credential belongs only to the caller's account or key. */
  belongsToCaller({ connection, caller }: CredentialUse): boolean {
    return caller.owner !== '' && typeof this.#findSource(connection) === 'function'
  }

  /** Returns the credential. Rejects if the function does, and resolves to `undefined` if it returns nothing. */
  async get(use: CredentialUse): Promise<string | undefined> {
    const cached = this.#credentials.get(this.#getId(use))
    if (cached && (!cached.result || cached.result.expiresAt > this.#clock.now())) return cached.text
    return this.#call(use, cached ? 'expired' : 'first')
  }

  /** Returns a new credential after the provider has rejected this one. Resolves to `undefined` if there is none. */
  async renew(use: CredentialUse, rejectedCredential: string): Promise<string | undefined> {
    const cached = this.#credentials.get(this.#getId(use))
    if (cached?.result?.text !== undefined && cached.result.text !== rejectedCredential) return cached.result.text // another request has already renewed it
    if (!cached || cached.result) return withoutRejected(await this.#call(use, 'rejected'), rejectedCredential)
    if (cached.reason === 'rejected')
      return withoutRejected(await cached.text.catch(() => undefined), rejectedCredential)
    await cached.text.catch(() => undefined)
    return this.renew(use, rejectedCredential)
  }

  /** Forgets a connection's credentials that no request uses anymore. */
  forget({ id, updatedAt }: ConnectionRecord): void {
    const keyPrefix = JSON.stringify([id, updatedAt]).slice(0, -1)
    for (const key of this.#credentials.keys()) if (key.startsWith(`${keyPrefix},`)) this.#credentials.delete(key)
  }

  /** Lists the forms in which a provider may quote this credential and the latest others, longest first, for removal from errors. */
  listQuotableForms(apiKey: string | undefined): readonly string[] {
    const apiKeyVariants = apiKey === undefined ? [] : listSecretVariants(apiKey)
    return [...apiKeyVariants, ...this.#quotableForms].sort((a, b) => b.length - a.length)
  }

  /** Creates the failure for a connection whose function failed, or returned nothing for the request. */
  createFailure({ connection: { id } }: CredentialUse, problem: string) {
    return {
      class: 'credentials',
      lacksCredential: true,
      status: 502,
      message: `The credential function of the connection "${id}" ${problem}.`,
    } as const
  }

  #getId({ connection, caller }: CredentialUse): string {
    const isShared = typeof this.#findSource(connection) !== 'function'
    const { id, updatedAt, providerSpecificData } = connection
    return JSON.stringify([id, updatedAt, providerSpecificData?.region, isShared ? '' : caller.owner])
  }

  #rememberQuotable(credential: string): void {
    for (const form of listSecretVariants(credential)) {
      this.#quotableForms.delete(form)
      this.#quotableForms.add(form)
      const [oldest] = this.#quotableForms
      if (this.#quotableForms.size > MAX_QUOTABLE_FORMS && oldest !== undefined) this.#quotableForms.delete(oldest)
    }
  }

  #call(use: CredentialUse, reason: CredentialRequest['reason']): Promise<string | undefined> {
    const id = this.#getId(use)
    const resultPromise = this.#resolve(use, reason)
    const credential: CachedCredential = { text: resultPromise.then(({ text }) => text), reason }
    this.#credentials.delete(id)
    this.#credentials.set(id, credential)
    evictOldest(this.#credentials, MAX_CREDENTIALS)
    resultPromise.then(
      (result) => {
        credential.result = result
        if (result.text === undefined && this.#credentials.get(id) === credential) this.#credentials.delete(id) // the next request calls the function again
      },
      () => {
        if (this.#credentials.get(id) === credential) this.#credentials.delete(id)
      },
    )
    return credential.text
  }

  async #resolve({ connection, caller, model, cloud }: CredentialUse, reason: CredentialRequest['reason']) {
    const { id: connectionId, providerSpecificData: { region } = {} } = connection
    const source = this.#findSource(connection)
    const resolve = typeof source === 'function' ? source : source?.resolve
    const { account, key } = caller
    const isShared = typeof source !== 'function'
    const sourceResult = await runWithDeadline(
      async (signal) => {
        try {
          const result = await resolve?.({
            connectionId,
            reason,
            signal,
            ...(region !== undefined && { region }),
            model,
            ...(!isShared && account && { account: account.id, ...(account.plan && { plan: account.plan.id }) }),
            ...(!isShared && key && { keyId: key.id }),
          })
          return isObject(result) ? readCredentialFields(result) : result
        } catch (cause) {
          const advice = typeof source === 'object' && typeof source.advice === 'string' ? ` ${source.advice}` : ''
          throw createSourceError(
            connectionId,
            `failed${describeCode(cause)}.${advice} The hook "onError" gets the cause`,
            cause, // may contain the secret, so only the hook gets it
          )
        }
      },
      {
        clock: this.#clock,
        ms: TIMEOUT_MS,
        createError: () => createSourceError(connectionId, 'timed out'),
      },
    )
    const text = toCredentialText(sourceResult, connectionId)
    if (text !== undefined) this.#rememberQuotable(text)
    if (
      text !== undefined &&
      isObject(sourceResult) &&
      typeof sourceResult.accessKeyId === 'string' &&
      cloud !== 'bedrock'
    )
      throw createSourceError(connectionId, 'returned AWS access keys, which only Bedrock accepts')
    const now = this.#clock.now()
    const expiresAt =
      (isObject(sourceResult) ? sourceResult.expiresAt : undefined) ?? now + DEFAULT_TTL_MS + EXPIRY_MARGIN_MS
    const isNumber = typeof expiresAt === 'number' && !Number.isNaN(expiresAt)
    if (!isNumber || isInSeconds(expiresAt, now))
      throw createSourceError(
        connectionId,
        `must return "expiresAt" in epoch milliseconds, ${isNumber ? 'not in seconds' : 'as a number'}`,
      )
    return { text, expiresAt: expiresAt - EXPIRY_MARGIN_MS }
  }
}

/** Reads a credential's fields once, because they may be getters, which can throw an error with the secret. */
const readCredentialFields = ({
  apiKey,
  accessToken,
  accessKeyId,
  secretAccessKey,
  sessionToken,
  expiresAt,
}: JsonObject) => ({
  ...{ apiKey, accessToken, accessKeyId, secretAccessKey, sessionToken, expiresAt },
})

/** Returns whether a time was probably given in seconds, as in OAuth, because it would be decades ago if it were in milliseconds. */
const isInSeconds = (time: number, now: number) => time > 0 && time < now / 100 && time * 1_000 > now - 24 * 60 * 60_000

/** Returns the code of an error that a function threw, such as ` with ECONNREFUSED`. Returns an empty string for anything that may be a secret. */
function describeCode(cause: unknown): string {
  try {
    const code = isObject(cause) ? cause.code : undefined
    return typeof code === 'string' && /^[A-Z_]{3,40}$/.test(code) ? ` with ${code}` : ''
  } catch {
    return '' // thrown by a getter
  }
}

const withoutRejected = (text: string | undefined, rejectedCredential: string) =>
  text === rejectedCredential ? undefined : text

/** Converts a credential to the form in which it is stored and sent. Throws an error without the value, which may be a secret. */
function toCredentialText(sourceResult: unknown, connectionId: string): string | undefined {
  if (sourceResult === undefined || sourceResult === null) return undefined
  const { apiKey, accessToken, accessKeyId, secretAccessKey, sessionToken } = isObject(sourceResult)
    ? sourceResult
    : { apiKey: sourceResult }
  const text =
    typeof accessKeyId === 'string' && typeof secretAccessKey === 'string'
      ? [accessKeyId, secretAccessKey, sessionToken].filter(Boolean).join(':')
      : (apiKey ?? accessToken)
  if (typeof text !== 'string' || text.trim() === '')
    throw createSourceError(
      connectionId,
      'must return a string, { apiKey }, { accessToken }, or { accessKeyId, secretAccessKey }',
    )
  if (!isSendableCredential(text.trim()))
    throw createSourceError(connectionId, 'must return the bare credential, without spaces or line breaks')
  return text.trim()
}

const createSourceError = (connectionId: string, problem: string, cause?: unknown) =>
  gatewayError('UPSTREAM_CREDENTIALS', { message: `The credential function of "${connectionId}" ${problem}.`, cause })
