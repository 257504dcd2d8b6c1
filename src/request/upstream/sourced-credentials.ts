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

interface KnownCredential {
  /** The credential as text, or `undefined` if the function returned none. */
  text: Promise<string | undefined>
  reason: CredentialRequest['reason']
  /** Set once the function has returned; `expiresAt` is in epoch ms. */
  settled?: { text: string | undefined; expiresAt: number }
}

const DEFAULT_MS = 5 * 60_000
const EARLY_MS = 60_000
const TIMEOUT_MS = 5_000
/** Maximum number of credentials. The oldest are evicted first. */
const MAX_KNOWN = 20_000
const MAX_QUOTABLE = 1_000

/** The credentials of connections whose `apiKey` is a function. They stay in memory only. */
export class SourcedCredentials {
  readonly #find: SourceFinder
  readonly #clock: Clock
  readonly #known = new Map<string, KnownCredential>()
  /** The forms in which a provider may quote the latest credentials, oldest first. */
  readonly #quotable = new Set<string>()

  constructor(find: SourceFinder, clock: Clock) {
    this.#find = find
    this.#clock = clock
  }

  /** Returns whether the credential belongs only to the caller's account or key. */
  belongsToCaller({ connection, caller }: CredentialUse): boolean {
    return caller.owner !== '' && typeof this.#find(connection) === 'function'
  }

  /** Returns the credential. Rejects if the function does, and resolves to `undefined` if it returns nothing. */
  async get(use: CredentialUse): Promise<string | undefined> {
    const cached = this.#known.get(this.#getId(use))
    if (cached && (!cached.settled || cached.settled.expiresAt > this.#clock.now())) return cached.text
    return this.#call(use, cached ? 'expired' : 'first')
  }

  /** Returns a new credential after the provider has rejected this one. Resolves to `undefined` if there is none. */
  async renew(use: CredentialUse, rejected: string): Promise<string | undefined> {
    const cached = this.#known.get(this.#getId(use))
    if (cached?.settled?.text !== undefined && cached.settled.text !== rejected) return cached.settled.text // another request has already renewed it
    if (!cached || cached.settled) return withoutRejected(await this.#call(use, 'rejected'), rejected)
    if (cached.reason === 'rejected') return withoutRejected(await cached.text.catch(() => undefined), rejected)
    await cached.text.catch(() => undefined)
    return this.renew(use, rejected)
  }

  /** Forgets a connection's credentials that no request uses anymore. */
  forget({ id, updatedAt }: ConnectionRecord): void {
    const start = JSON.stringify([id, updatedAt]).slice(0, -1)
    for (const key of this.#known.keys()) if (key.startsWith(`${start},`)) this.#known.delete(key)
  }

  /** Lists the forms in which a provider may quote this credential and the latest others, longest first, for removal from errors. */
  listQuotable(apiKey: string | undefined): readonly string[] {
    const apiKeyVariants = apiKey === undefined ? [] : listSecretVariants(apiKey)
    return [...apiKeyVariants, ...this.#quotable].sort((a, b) => b.length - a.length)
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
    const isShared = typeof this.#find(connection) !== 'function'
    const { id, updatedAt, providerSpecificData } = connection
    return JSON.stringify([id, updatedAt, providerSpecificData?.region, isShared ? '' : caller.owner])
  }

  #rememberQuotable(credential: string): void {
    for (const form of listSecretVariants(credential)) {
      this.#quotable.delete(form)
      this.#quotable.add(form)
      const [oldest] = this.#quotable
      if (this.#quotable.size > MAX_QUOTABLE && oldest !== undefined) this.#quotable.delete(oldest)
    }
  }

  #call(use: CredentialUse, reason: CredentialRequest['reason']): Promise<string | undefined> {
    const id = this.#getId(use)
    const calling = this.#resolve(use, reason)
    const credential: KnownCredential = { text: calling.then(({ text }) => text), reason }
    this.#known.delete(id)
    this.#known.set(id, credential)
    evictOldest(this.#known, MAX_KNOWN)
    calling.then(
      (settled) => {
        credential.settled = settled
        if (settled.text === undefined && this.#known.get(id) === credential) this.#known.delete(id) // the next request calls the function again
      },
      () => {
        if (this.#known.get(id) === credential) this.#known.delete(id)
      },
    )
    return credential.text
  }

  async #resolve({ connection, caller, model, cloud }: CredentialUse, reason: CredentialRequest['reason']) {
    const { id: connectionId, providerSpecificData: { region } = {} } = connection
    const source = this.#find(connection)
    const resolve = typeof source === 'function' ? source : source?.resolve
    const { account, key } = caller
    const isShared = typeof source !== 'function'
    const found = await runWithDeadline(
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
          return isObject(result) ? readMembers(result) : result
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
    const text = toText(found, connectionId)
    if (text !== undefined) this.#rememberQuotable(text)
    if (text !== undefined && isObject(found) && typeof found.accessKeyId === 'string' && cloud !== 'bedrock')
      throw createSourceError(connectionId, 'returned AWS access keys, which only Bedrock accepts')
    const now = this.#clock.now()
    const expiresAt = (isObject(found) ? found.expiresAt : undefined) ?? now + DEFAULT_MS + EARLY_MS
    const isNumber = typeof expiresAt === 'number' && !Number.isNaN(expiresAt)
    if (!isNumber || isInSeconds(expiresAt, now))
      throw createSourceError(
        connectionId,
        `must return "expiresAt" in epoch milliseconds, ${isNumber ? 'not in seconds' : 'as a number'}`,
      )
    return { text, expiresAt: expiresAt - EARLY_MS }
  }
}

/** Reads a credential's fields once, because they may be getters, which can throw an error with the secret. */
const readMembers = ({ apiKey, accessToken, accessKeyId, secretAccessKey, sessionToken, expiresAt }: JsonObject) => ({
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

const withoutRejected = (text: string | undefined, rejected: string) => (text === rejected ? undefined : text)

/** Converts a credential to the form in which it is stored and sent. Throws an error without the value, which may be a secret. */
function toText(found: unknown, connectionId: string): string | undefined {
  if (found === undefined || found === null) return undefined
  const { apiKey, accessToken, accessKeyId, secretAccessKey, sessionToken } = isObject(found)
    ? found
    : { apiKey: found }
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
