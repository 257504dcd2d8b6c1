import { gatewayError } from '../../errors.ts'
import { runWithDeadline } from '../../lib/deadline.ts'
import { isObject } from '../../lib/json.ts'
import { evictOldest } from '../../lib/maps.ts'
import type { ConnectionRecord } from '../../records/record-collections.ts'
import type { Clock, Credential, CredentialRequest, CredentialSource, SharedCredentialSource } from '../../types.ts'

/** The caller that a credential may belong to. */
interface CredentialOwner {
  /** The account's ref, or else the key's ID; empty without both. */
  owner: string
  account: { id: string; plan?: { id: string } | undefined } | undefined
  key: { id: string } | undefined
}

/** What a credential is for. */
export interface CredentialUse {
  connection: ConnectionRecord
  caller: CredentialOwner
  model: string
}

interface KnownCredential {
  /** The credential as text; `undefined` if the function returned none. */
  text: Promise<string | undefined>
  /** Epoch ms; infinite while the function runs. */
  until: number
}

const DEFAULT_MS = 5 * 60_000
const EARLY_MS = 60_000
const TIMEOUT_MS = 5_000
/** Beyond this, the oldest credentials are forgotten. */
const MAX_KNOWN = 20_000
const MAX_TEXTS = 1_000

/** The credentials of connections whose `apiKey` is a function. They stay in memory only. */
export class SourcedCredentials {
  readonly #sources: ReadonlyMap<string, CredentialSource | SharedCredentialSource>
  readonly #clock: Clock
  readonly #known = new Map<string, KnownCredential>()
  /** The latest credentials, the oldest first. */
  readonly #texts = new Set<string>()

  constructor(sources: ReadonlyMap<string, CredentialSource | SharedCredentialSource>, clock: Clock) {
    this.#sources = sources
    this.#clock = clock
  }

  /** Whether this connection's `apiKey` is a function. */
  has({ id }: ConnectionRecord): boolean {
    return this.#sources.has(id)
  }

  /** Whether the credential is that of the caller's account. */
  isOfAccount({ connection, caller }: CredentialUse): boolean {
    return caller.account !== undefined && typeof this.#sources.get(connection.id) === 'function'
  }

  /** Rejects if the function does. Resolves to `undefined` if it returns nothing. */
  async get(use: CredentialUse): Promise<string | undefined> {
    const id = this.#getId(use)
    const known = this.#known.get(id)
    if (known && known.until > this.#clock.now()) return known.text
    return this.#call(use, known ? 'expired' : 'first')
  }

  /** The credential after the provider has rejected this one; `undefined` if there is no other. */
  async renew(use: CredentialUse, rejected: string): Promise<string | undefined> {
    const id = this.#getId(use)
    const known = this.#known.get(id)
    const current = known && (await known.text.catch(() => undefined))
    if (current !== undefined && current !== rejected) return current // another request has renewed it
    const renewed = await this.#call(use, 'rejected')
    return renewed === rejected ? undefined : renewed
  }

  /** The latest credentials, for removal from errors. */
  list(): readonly string[] {
    return [...this.#texts]
  }

  #getId({ connection: { id, providerSpecificData }, caller }: CredentialUse): string {
    const isShared = typeof this.#sources.get(id) !== 'function'
    return JSON.stringify([id, providerSpecificData?.region, isShared ? '' : caller.owner])
  }

  #noteText(text: string): void {
    this.#texts.delete(text)
    this.#texts.add(text)
    const [oldest] = this.#texts
    if (this.#texts.size > MAX_TEXTS && oldest !== undefined) this.#texts.delete(oldest)
  }

  #call(use: CredentialUse, reason: CredentialRequest['reason']): Promise<string | undefined> {
    const id = this.#getId(use)
    const calling = this.#resolve(use, reason)
    const known: KnownCredential = { text: calling.then(({ text }) => text), until: Number.POSITIVE_INFINITY }
    this.#known.delete(id)
    this.#known.set(id, known)
    evictOldest(this.#known, MAX_KNOWN)
    calling.then(
      ({ until }) => {
        known.until = until
      },
      () => {
        if (this.#known.get(id) === known) this.#known.delete(id)
      },
    )
    return known.text
  }

  async #resolve({ connection, caller, model }: CredentialUse, reason: CredentialRequest['reason']) {
    const { id: connectionId, providerSpecificData: { region } = {} } = connection
    const source = this.#sources.get(connectionId)
    const resolve = typeof source === 'function' ? source : source?.resolve
    const { account, key } = caller
    const isShared = typeof source !== 'function'
    const found = await runWithDeadline(
      async (signal) =>
        resolve?.({
          connectionId,
          reason,
          signal,
          ...(region !== undefined && { region }),
          model,
          ...(!isShared && account && { account: account.id, ...(account.plan && { plan: account.plan.id }) }),
          ...(!isShared && key && { keyId: key.id }),
        }),
      {
        clock: this.#clock,
        ms: TIMEOUT_MS,
        late: () => new Error(`The credential function of "${connectionId}" timed out.`),
      },
    )
    const text = toText(found, connectionId)
    if (text !== undefined) this.#noteText(text)
    const { expiresAt = this.#clock.now() + DEFAULT_MS + EARLY_MS } = isObject(found) ? (found as Credential) : {}
    return { text, until: expiresAt - EARLY_MS }
  }
}

/** The form in which credentials are stored and sent. Throws an error without the value, which may be a secret. */
function toText(found: unknown, connectionId: string): string | undefined {
  if (found === undefined || found === null) return undefined
  const { apiKey, accessToken, accessKeyId, secretAccessKey, sessionToken } = isObject(found)
    ? found
    : { apiKey: found }
  const text =
    typeof accessKeyId === 'string' && typeof secretAccessKey === 'string'
      ? [accessKeyId, secretAccessKey, sessionToken].filter(Boolean).join(':')
      : (apiKey ?? accessToken)
  if (typeof text === 'string' && text.trim() !== '') return text.trim()
  throw gatewayError('UPSTREAM_CREDENTIALS', {
    message: `The credential function of "${connectionId}" must return a string, { apiKey }, { accessToken }, or { accessKeyId, secretAccessKey }.`,
  })
}
