import type { JsonObject } from '../lib/json.ts'

/*
 * What a gateway and a cloud proxy say to each other; src/cloud/README.md explains it. All bodies are JSON. The bodies of signed requests and of
 * their answers are sealed for the session (`Sealed`). Errors are `{ error, code }` in clear, with a status outside 200 to 299.
 */

/** The version of the protocol. A proxy serves it below `/cloud/1`. */
export const PROTOCOL = 1

/** The paths below the address of the proxy. */
export const paths = {
  /** GET, without a credential: `Hello`. */
  hello: '/cloud/1',
  /** POST `{}`, without a credential: `Challenge`. */
  challenge: '/cloud/1/challenges',
  /** POST `OpenSession`: `OpenedSession`. GET, signed: `SessionList`. */
  sessions: '/cloud/1/sessions',
  /** DELETE, signed: `{ success: true }`. */
  session: (id: string) => `/cloud/1/sessions/${encodeURIComponent(id)}`,
  /** POST `SyncRequest`, signed: `SyncAnswer`. DELETE, signed: removes the mirror and all sessions, `{ success: true }`. */
  mirror: '/cloud/1/mirror',
  /** POST `SpentRequest`, signed: `SpentAnswer`. A proxy of an earlier release answers `NOT_FOUND`. */
  spent: '/cloud/1/spent',
} as const

/** The headers of a signed request. */
export const headers = {
  session: 'x-signalbox-cloud-session',
  /** Counts the requests of a session, from 1; each is larger than the one before, so that no request is taken twice. */
  counter: 'x-signalbox-cloud-counter',
  /** By the gateway's key over `signedText`, in base64. */
  signature: 'x-signalbox-cloud-signature',
} as const

/** The most `attempts` in one message. */
export const MAX_ATTEMPTS = 16
/** The most accounts in one message. */
export const MAX_SPENT = 200
/** The most states in one message. */
export const MAX_STATES = 200
/** The largest message, in bytes. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
/** After this time without a request a proxy discards a session, in ms. */
export const SESSION_MS = 24 * 60 * 60 * 1000

/** The codes of the protocol's errors. */
export type CloudCode =
  /** 401: no such session, wrong signature, counter or challenge. The gateway opens another session once. */
  | 'SESSION_INVALID'
  /** 401: this gateway has not enrolled here, or the enrolment credential is wrong. */
  | 'NOT_ENROLLED'
  /** 409: the proxy has no mirror of this gateway, or another one than it names. */
  | 'MIRROR_GONE'
  /** 409: proxy and gateway do not remember the same last exchange: one of them got an old copy back. */
  | 'HISTORY_DIVERGED'
  /** 400: the message is not one of this protocol. */
  | 'INVALID_MESSAGE'
  /** 404: no such route, or no such session. */
  | 'NOT_FOUND'

/** A body under the key of its session: AES-256-GCM, bound to `requestPlace` or `answerPlace`. */
export interface Sealed {
  sealed: string
}

/** What a proxy says of itself. */
export interface Hello {
  service: 'signalbox-cloud'
  protocol: number
}

/** A challenge is taken once, within a minute of the proxy's clock. */
export interface Challenge {
  challenge: string
}

/** Opens a session, and enrols the gateway when it brings the enrolment credential. */
export interface OpenSession {
  challenge: string
  /** The public half of the gateway's signing key, ECDSA P-256, raw, in base64. Its digest is the gateway's id (`gatewayId`). */
  publicKey: string
  /** The public half of a key for this session alone, ECDH P-256, raw, in base64. */
  exchangeKey: string
  /** Sent by a gateway that is not enrolled yet, and in no other message. */
  enrolment?: string
  /** Over `openingText`, in base64. */
  signature: string
}

export interface OpenedSession {
  session: string
  /** The proxy's half of the key of this session, ECDH P-256, raw, in base64. */
  exchangeKey: string
}

/** An auth session, in ISO 8601. */
export interface CloudSession {
  id: string
  createdAt: string
  lastUsedAt: string
}

export interface SessionList {
  sessions: CloudSession[]
}

/** The collections that are mirrored. */
export const collections = [
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

/** How many changes of each side a state has seen; a side counts its own on, after an old copy was put back from the time in epoch ms. */
export type Revision = readonly [home: number, cloud: number]

/** The state of one record, deleted ones included. */
export interface MirrorState {
  collection: Collection
  /** Of keys, connections and combos their id; of aliases the alias, of providers the provider's id, of custom models `customModelId`, of settings "settings". */
  id: string
  revision: Revision
  /** After an old copy of a storage was put back: the last state that both had before this one, which has seen no more. */
  base?: Revision
  /** `null`: deleted. */
  record: JsonObject | null
  /** Of keys and connections: whether they are active, which is settled apart from the rest. */
  active?: { isActive: boolean; revision: Revision; base?: Revision }
}

/** A state that the sender of this has taken. */
export type Seen = Pick<MirrorState, 'collection' | 'id' | 'revision'> & { activeRevision?: Revision }

export interface SyncRequest {
  /** The id of the mirror that the gateway knows; `null` when it knows none. */
  mirror: string | null
  /** Sent by `enable`: makes a mirror when there is none. */
  create?: true
  /** What the last answer had; `null` before the first. */
  stamp: string | null
  /**
   * The requests since that answer, by names of the gateway's own, the last for this one. The gateway stores the name of a request that has `changes`,
   * `seen` or `full` before it sends it.
   */
  attempts?: readonly string[]
  /** Both sides send all that they have, as though the other had seen nothing. */
  full?: true
  /** At most `MAX_STATES`. */
  changes: MirrorState[]
  seen: Seen[]
}

/**
 * What became of a change: `taken`; `known`, the proxy has it or a later one; `concurrent`, the proxy has one that the gateway has not seen, and
 * sends it among its changes; or refused: why, as a sentence and by its code.
 */
export type Verdict = 'taken' | 'known' | 'concurrent' | { refused: string; code: RefusalCode }

/** Why a state is refused. */
export type RefusalCode =
  /** The record is none that may be stored. */
  | 'INVALID'
  /** It has a credential, and its side has no secret to seal it with. */
  | 'NO_SECRET'
  /** Another gateway of this proxy has the key. */
  | 'KEY_TAKEN'

export interface SyncAnswer {
  mirror: string
  /** To be sent with the next request. */
  stamp: string
  /** One for each change, in their order. */
  verdicts: Verdict[]
  /** What the gateway has not seen; at most `MAX_STATES`. */
  changes: MirrorState[]
  /** Is there more that it has not seen? */
  more: boolean
}

/** What the sender has used of what a key or a group may use, without what the other side has told it. */
export interface SideAccount {
  scope: 'key' | 'group'
  id: string
  /** When its counters were started anew, in epoch ms; the side with the lesser one starts its own anew, too. */
  epoch: number
  /** Rises with each change of it: of two messages the one with the larger number counts. */
  number: number
  /** The minute, since the Unix epoch, that its windows lie in. */
  minute: number
  /** Requests, tokens and nano-dollars of the minute, then of the hour, day, week, month, and in total. */
  used: readonly number[]
}

/** At most `MAX_SPENT` accounts; those with limits alone. */
export interface SpentRequest {
  mirror: string
  accounts: SideAccount[]
  /** Sent to be told what the proxy has used: empty, then `next` of the last answer. */
  after?: string
}

export interface SpentAnswer {
  /** Some of what the proxy has used. */
  accounts: SideAccount[]
  /** Absent: that was all. */
  next?: string
}

/** What the signature of a request is over. `path` is one of `paths`; `bodyDigest` the SHA-256 of the body's bytes as sent, in base64 (`digestOfBytes`). */
export const signedText = (request: {
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

/** The facts that the sealed body of a request is bound to, and those for the body of its answer. */
export const requestPlace = (session: string, counter: number) => `cloud request ${session} ${counter}`
export const answerPlace = (session: string, counter: number) => `cloud answer ${session} ${counter}`

/** What the signature of an `OpenSession` is over. */
export const openingText = ({ challenge, publicKey, exchangeKey, enrolment }: Omit<OpenSession, 'signature'>) =>
  JSON.stringify(['signalbox cloud 1 session', challenge, publicKey, exchangeKey, enrolment ?? null])
