import { memoizeByObject } from '../lib/maps.ts'
import type { ClientKey } from '../records/key-lookup.ts'
import type { ClientGroup } from '../records/known-groups.ts'
import type { DataTags, Kind, PromptCaching, UsageLimits } from '../types.ts'

/** The key, account, and token that a request runs as. */
export interface Caller {
  /**
   * The owner of anything that the gateway remembers for a caller, such as Responses items, reasoning, and sessions: the account's ref, or else the
   * key's ID. Empty if there is neither.
   */
  readonly owner: string
  /** The client's key. Absent if the request has none and doesn't need one. */
  readonly key: ClientKey | undefined
  /** The account. Absent if your app names none. */
  readonly account: CallerAccount | undefined
  /** The token that acts for the account. Absent if there is none. */
  readonly token?: CallerToken | undefined
}

/** A token for a browser or a device. */
export interface CallerToken {
  /** The token's ID (`jti` claim). */
  readonly id: string
  /** The allowed models and kinds; absent means everything that the account allows. */
  readonly models?: readonly string[] | undefined
  readonly kinds?: readonly Kind[] | undefined
  /** The token's data policy. Absent if there is none. */
  readonly require?: Readonly<DataTags> | undefined
  /** The token's own limits; the same object for the same token. */
  readonly limits?: UsageLimits | undefined
}

/** One of your app's users or customers. */
export interface CallerAccount {
  /** Your app's ID for the account, for your code only; storage, metrics, and URLs use the ref. */
  readonly id: string
  /** The pseudonym for the ID. */
  readonly ref: string
  readonly name?: string | undefined
  /** A group of keys that serves as a price plan. */
  readonly plan?: ClientGroup | undefined
  /** The account's own limits; the same object for equal limits. */
  readonly limits?: UsageLimits | undefined
  /** The account's own lists, in addition to its plan's. Each list must allow a request. Absent if there are no restrictions. */
  readonly allowed?: ReadonlyArray<ModelPermissions> | undefined
  /** Whether the account's prompts are cached. If absent, the plan's setting applies. */
  readonly promptCaching?: PromptCaching | undefined
  /** The data policies of the identity, the account, and the plan. Absent if there are none. */
  readonly require?: ReadonlyArray<Readonly<DataTags>> | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly tags?: readonly string[] | undefined
}

/** The allowed models and kinds. An absent field means that all are allowed. */
export interface ModelPermissions {
  readonly models?: readonly string[] | undefined
  readonly kinds?: readonly Kind[] | undefined
}

/** The caller of a request that has neither a key nor an account, or before these are known. */
export const ANONYMOUS_CALLER: Caller = { owner: '', key: undefined, account: undefined }

/** Returns the caller with this key. Returns the same object for the same key, so requests don't allocate it. */
export const getKeyCaller: (key: ClientKey) => Caller = memoizeByObject((key) => ({
  owner: key.id,
  key,
  account: undefined,
}))
