import type { JsonObject } from '../../lib/json.ts'
import type { IsoTime } from '../../types/plain-types.ts'

/*
 * The protocol between a gateway and a cloud proxy; see docs/src/content/docs/reference/cloud-protocol.md. All bodies are JSON. The bodies of signed
 * requests and their responses are encrypted for the session (`EncryptedBody`). Errors are `{ error, code }`, unencrypted, with a non-2xx status.
 */

/** The protocol version. A proxy serves it under `/cloud/1`. */
export const PROTOCOL_VERSION = 1

/** The paths below the proxy's URL. */
export const paths = {
  /** GET, unsigned. Returns `Hello`. */
  hello: '/cloud/1',
  /** POST `{}`, unsigned. Returns `Challenge`. */
  challenge: '/cloud/1/challenges',
  /** POST `OpenSession`, returns `OpenSessionResponse`. GET, signed, returns `SessionList`. */
  sessions: '/cloud/1/sessions',
  /** DELETE, signed. Returns `{ success: true }`. */
  session: (id: string) => `/cloud/1/sessions/${encodeURIComponent(id)}`,
  /** POST `SyncRequest`, signed, returns `SyncResponse`. DELETE, signed, removes the replica and all sessions and returns `{ success: true }`. */
  replica: '/cloud/1/mirror',
  /** POST `SpendingRequest`, signed. Returns `SpendingResponse`. Proxies of earlier releases return `NOT_FOUND`. */
  spent: '/cloud/1/spent',
} as const

/** The headers of a signed request. */
export const headers = {
  session: 'x-signalbox-cloud-session',
  /** The request's number within its session, starting at 1. It must be larger than the previous request's, which prevents replays. */
  counter: 'x-signalbox-cloud-counter',
  /** The signature of `getSignedText` by the gateway, in base64. */
  signature: 'x-signalbox-cloud-signature',
} as const

/** Maximum number of `attempts` per message. */
export const MAX_ATTEMPTS = 16
/** Maximum usage accounts (keys and groups) per message. */
export const MAX_ACCOUNTS = 200
/** Maximum states per message. */
export const MAX_STATES = 200
/** Maximum message size, in bytes. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
/** How long a session may be idle before the proxy discards it, in ms. */
export const SESSION_MS = 24 * 60 * 60 * 1000

/** The protocol's error codes. */
export type CloudCode =
  /** 401: unknown session, or wrong signature, counter, or challenge. The gateway then tries once with a new session. */
  | 'SESSION_INVALID'
  /** 401: the gateway isn't enrolled at this proxy, or the enrollment token is wrong. */
  | 'NOT_ENROLLED'
  /** 409: the proxy has no replica of this gateway, or not the one in the request. */
  | 'MIRROR_GONE'
  /** 409: the proxy and gateway disagree about their last sync, because one was restored from an old copy. */
  | 'HISTORY_DIVERGED'
  /** 400: not a valid protocol message. */
  | 'INVALID_MESSAGE'
  /** 404: unknown route or session. */
  | 'NOT_FOUND'

/** A body encrypted with the session key: AES-256-GCM, bound to `getRequestContext` or `getResponseContext`. */
export interface EncryptedBody {
  sealed: string
}

/** How a proxy identifies itself. */
export interface Hello {
  service: 'signalbox-cloud'
  protocol: number
}

/** A challenge. It can be used once and expires after a minute by the proxy's clock. */
export interface Challenge {
  challenge: string
}

/** Opens a session. Enrolls the gateway if it includes the enrollment token. */
export interface OpenSession {
  challenge: string
  /** The gateway's public signing key: ECDSA P-256, raw, in base64. Its digest is the gateway's ID (`getGatewayId`). */
  publicKey: string
  /** A public key for this session only: ECDH P-256, raw, in base64. */
  exchangeKey: string
  /** Only sent by a gateway that isn't enrolled yet. */
  enrollmentToken?: string
  /** The signature of `getOpeningText`, in base64. */
  signature: string
}

export interface OpenSessionResponse {
  session: string
  /** The proxy's public key for this session: ECDH P-256, raw, in base64. */
  exchangeKey: string
}

/** An auth session; times are in ISO 8601. */
export interface CloudSession {
  id: string
  createdAt: IsoTime
  lastUsedAt: IsoTime
}

export interface SessionList {
  sessions: CloudSession[]
}

/** The synced collections. */
export const collections = [
  'guards',
  'settings',
  'groups',
  'keys',
  'connections',
  'combos',
  'customModels',
  'aliases',
  'providers',
] as const
export type Collection = (typeof collections)[number]

/**
 * The number of changes by each side that a state includes. Each side counts its own changes. After a restore from an old copy, its count continues
 * from the current time in epoch ms.
 */
export type Revision = readonly [gateway: number, cloud: number]

/** The state of a record, which may have been deleted. */
export interface RecordState {
  collection: Collection
  /**
   * The record's ID: the alias itself for aliases, the name for guards, the provider ID for providers, `getCustomModelId` for custom models, and
   * "settings" for settings.
   */
  id: string
  revision: Revision
  /** Set after a restore from an old copy: the last revision that both sides had, which is the only one that the state is known to include. */
  base?: Revision
  /** The record, or `null` if it was deleted. */
  record: JsonObject | null
  /** For keys and connections: whether the record is active, which is merged separately. */
  active?: { isActive: boolean; revision: Revision; base?: Revision }
}

/** Confirms that the sender has applied a state. */
export type Confirmation = Pick<RecordState, 'collection' | 'id' | 'revision'> & { activeRevision?: Revision }

export interface SyncRequest {
  /** The ID of the replica that the gateway knows. `null` if there is none. */
  mirror: string | null
  /** Sent by `enable`: creates a replica if there is none. */
  create?: true
  /** The stamp from the last response. `null` before the first one. */
  stamp: string | null
  /**
   * The gateway's names for its requests since that response, including this one. The gateway stores a request's name before it sends `changes`,
   * `seen`, or `full`.
   */
  attempts?: readonly string[]
  /** Makes both sides send all states, as if the other side hadn't seen any. */
  full?: true
  /** At most `MAX_STATES` changes. */
  changes: RecordState[]
  seen: Confirmation[]
}

/**
 * The outcome of a change. `taken`: the proxy applied it. `known`: the proxy already has this change or a later one. `concurrent`: the proxy has a
 * change that the gateway hasn't seen, and this response contains it. Otherwise, the change was rejected; `refused` is a sentence that says why.
 */
export type Verdict = 'taken' | 'known' | 'concurrent' | { refused: string; code: RejectionCode }

/** Why a state was rejected. */
export type RejectionCode =
  /** The record is invalid. */
  | 'INVALID'
  /** The record has a credential, and the receiving side has no secret to encrypt it with. */
  | 'NO_SECRET'
  /** Another gateway at this proxy has the key. */
  | 'KEY_TAKEN'

export interface SyncResponse {
  mirror: string
  /** The stamp to send with the next request. */
  stamp: string
  /** One per change, in order. */
  verdicts: Verdict[]
  /** States that the gateway hasn't seen; at most `MAX_STATES`. */
  changes: RecordState[]
  /** Whether the proxy has more such states. */
  more: boolean
}

/** The sender's own usage that counts toward a key's or group's limits. Excludes usage that the other side reported. */
export interface ScopeUsage {
  scope: 'key' | 'group'
  id: string
  /** When the counters were last reset, in epoch ms. The side with the earlier time resets its own counters. */
  epoch: number
  /** Increases with each change. The message with the larger number wins. */
  number: number
  /** The minute that the windows contain, in minutes since the Unix epoch. */
  minute: number
  /** Requests, tokens, and nano-dollars: first for the minute, then for the hour, day, week, month, and in total. */
  used: readonly number[]
}

/** Reports the usage of up to `MAX_ACCOUNTS` keys and groups with limits. */
export interface SpendingRequest {
  /** The replica's ID. */
  mirror: string
  accounts: ScopeUsage[]
  /** Requests a page of the proxy's usage: an empty string for the first page, then `next` of the previous response. */
  after?: string
}

export interface SpendingResponse {
  /** A page of the proxy's usage. */
  accounts: ScopeUsage[]
  /** Absent on the last page. */
  next?: string
}

/** Returns the string that a request's signature covers. `path` is one of `paths`; `bodyDigest` is `digestBytes` of the body as sent. */
export const getSignedText = (request: {
  method: string
  path: string
  session: string
  counter: number
  bodyDigest: string
}) =>
  JSON.stringify([
    'signalbox cloud 1',
    request.method,
    request.path,
    request.session,
    request.counter,
    request.bodyDigest,
  ])

/** Returns the context that a request's encrypted body is bound to. `getResponseContext` does the same for the response. */
export const getRequestContext = (session: string, counter: number) => `cloud request ${session} ${counter}`
export const getResponseContext = (session: string, counter: number) => `cloud answer ${session} ${counter}`

/** Returns the string that an `OpenSession` signature covers. */
export const getOpeningText = ({
  challenge,
  publicKey,
  exchangeKey,
  enrollmentToken,
}: Omit<OpenSession, 'signature'>) =>
  JSON.stringify(['signalbox cloud 1 session', challenge, publicKey, exchangeKey, enrollmentToken ?? null])
