/** A connection's credential. */
export type Credential = (
  | { apiKey: string }
  | { accessToken: string }
  | { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
) & {
  /** When the credential expires, in epoch ms. The function is called again a minute before this time. Default: five minutes after the call. */
  expiresAt?: number
}

/** Describes the request that needs a credential. */
export interface CredentialRequest {
  /** The account's ID, if the request has one (docs/src/content/docs/guides/users-of-your-app.md). Absent for a shared credential. */
  account?: string
  /** The account's plan. */
  plan?: string
  /** The client key's ID, if the request has one. Absent for a shared credential. */
  keyId?: string
  connectionId: string
  /** The connection's `region`. */
  region?: string
  /** The model's name at the provider. */
  model: string
  /** Why a credential is needed. `rejected` means that the provider has just rejected the previous one with a 401 or 403. */
  reason: 'first' | 'expired' | 'rejected'
  /** Aborts after five seconds. */
  signal: AbortSignal
}

/**
 * Returns a connection's credential, such as from a vault, an OAuth token, or a cloud role. It is called once for concurrent requests, and again when
 * the credential expires or the provider rejects it. If it returns `undefined`, the connection is skipped for this request. If it throws or takes
 * more than five seconds, that is treated as a connection failure.
 */
export type CredentialSource = (
  request: CredentialRequest,
) => Credential | string | undefined | PromiseLike<Credential | string | undefined>

/** A function whose credential is shared by all accounts and keys. By default, each account has its own. */
export interface SharedCredentialSource {
  resolve: CredentialSource
  shared: true
  /** What to do if the function fails, for the log. It must not contain secrets. */
  advice?: string
}
