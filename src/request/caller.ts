import { rememberByObject } from '../lib/maps.ts'
import type { ClientKey } from '../records/key-lookup.ts'
import type { ClientGroup } from '../records/known-groups.ts'
import type { Kind, UsageLimits } from '../types.ts'

/** Who a request runs as. */
export interface Caller {
  /**
   * Owns what the gateway remembers for a caller, such as Responses items, reasoning, and sessions: the account's ref, or else the key's id;
   * empty without both.
   */
  readonly owner: string
  /** The client's key; absent when the request has none and needs none. */
  readonly key: ClientKey | undefined
  /** The account; absent where your app names none. */
  readonly account: CallerAccount | undefined
  /** The token that acts for the account; absent without one. */
  readonly token?: CallerToken | undefined
}

/** A token of a browser or a device. */
export interface CallerToken {
  /** The claim `jti`. */
  readonly id: string
  /** The models and kinds that it may use; absent: all that its account may. */
  readonly models?: readonly string[] | undefined
  readonly kinds?: readonly Kind[] | undefined
  /** What it may use by itself. The same object for the same token. */
  readonly limits?: UsageLimits | undefined
}

/** One of your app's users or customers. */
export interface CallerAccount {
  /** Your own id. It is for your code only: storage, metrics, and URLs have the ref. */
  readonly id: string
  /** The pseudonym of the id. */
  readonly ref: string
  readonly name?: string | undefined
  /** A group of keys that serves as a price plan. */
  readonly plan?: ClientGroup | undefined
  /** Its own limits. The same object for equal limits. */
  readonly limits?: UsageLimits | undefined
  /** What it may use, besides the lists of its plan: each of these must allow a request. Absent: all. */
  readonly allowed?: ReadonlyArray<Allowed> | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly tags?: readonly string[] | undefined
}

/** The models and kinds that something may use; absent: all. */
export interface Allowed {
  readonly models?: readonly string[] | undefined
  readonly kinds?: readonly Kind[] | undefined
}

/** The caller of a request without a key and an account, or before they are known. */
export const ANONYMOUS: Caller = { owner: '', key: undefined, account: undefined }

/** The caller with this key. The same for the same key, so that requests don't allocate it. */
export const getKeyCaller: (key: ClientKey) => Caller = rememberByObject((key) => ({
  owner: key.id,
  key,
  account: undefined,
}))
