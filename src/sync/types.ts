import type { JsonObject } from '../lib/json.ts'
import type { WritableStore } from '../store/writable-store.ts'
import type { Clock } from '../types.ts'
import type { Collection, MirrorState, RefusalCode, Seen, SyncAnswer, SyncRequest, Verdict } from './protocol.ts'

/** One side of a mirror: the records of a store with what is known of their states. Its methods reject with `STORAGE_FAILED`. */
export interface Replica {
  /**
   * Takes each state of the other side unless this one has it or a later one, or one that the other side has not seen. Merges nothing. Resolves to
   * the verdicts in the order of the states.
   */
  accept(states: readonly MirrorState[]): Promise<Verdict[]>
  /**
   * States that the other side has not confirmed, at most `limit`; looks for changes first. Each call goes on where the one before ended, and
   * begins anew when it has come to the end: `more` says whether it has not. `isLeftOut` names those that are not wanted.
   */
  unseen(limit: number, isLeftOut?: (state: StateId) => boolean): Promise<Unseen>
  /** The other side has these. A state that has changed since stays unseen. */
  confirm(seen: readonly Seen[]): Promise<void>
  /**
   * Marks all states to be sent again. `isDiverged`: because one side has got an old copy back; what was changed on it counts as concurrent to what
   * it has not.
   */
  markAllUnseen(options?: { isDiverged?: boolean }): Promise<void>
  /**
   * Home only: the same for one state, but merges a concurrent state and writes the result. `report` is called with each conflict before the
   * result is written; after a failure it may be called again with the same one.
   */
  settle(remote: MirrorState, report?: (conflict: Conflict) => Promise<void>): Promise<Verdict>
  /**
   * Home only: settles records that cannot be beside each other, such as two combos with one name, of which one then stays on both sides. To be
   * called when both sides have all states. Resolves to whether there were any.
   */
  settleCollisions(report?: (conflict: Conflict) => Promise<void>): Promise<boolean>
  /** Removes what is stored of the states of other mirrors. To be called when the other side has this one for certain. */
  forgetOthers(): Promise<void>
}

/** The two ends of a mirror: the gateway, and the cloud proxy. */
export type Side = 'home' | 'cloud'

/** Which record a state is of. */
export type StateId = Pick<MirrorState, 'collection' | 'id'>

export interface Unseen {
  states: MirrorState[]
  more: boolean
  /** Records that cannot be mirrored as they stand here. */
  refused: Refusal[]
}

/** A record that is not mirrored, and why. */
export interface Refusal extends StateId {
  /** A sentence. */
  message: string
  code: RefusalCode
}

/** Two changes, one on each side, that did not see each other: which one is in force. */
export interface Conflict extends StateId {
  kept: Side
  /** When it was settled, in ISO 8601 of home's clock. */
  at: string
}

/** The cloud's directory of the keys of all tenants, by `digestOfKey`. */
export interface Claims {
  /** Resolves to `false` when another tenant has the key. */
  take(digest: string): Promise<boolean>
  release(digest: string): Promise<void>
}

export interface ReplicaOptions {
  store: WritableStore
  side: Side
  /** The id of the mirror. */
  mirror: string
  /** The record as it may be stored; throws an error with a message for people otherwise (management/mirror-input.ts). */
  validate: (collection: Collection, record: JsonObject) => JsonObject
  clock: Pick<Clock, 'now'>
  claims?: Claims
  /** May credentials be stored here? */
  keepsSecrets: boolean
}

/** What home remembers of its exchanges. */
export interface ExchangeState {
  /** The id of the mirror; `null` before there is one. */
  mirror: string | null
  stamp: string | null
  /** The requests since the last answer. */
  attempts?: readonly string[]
}

export interface ExchangeOptions {
  /** Home's replica of a mirror, of which only the first answer of `create` may tell the id. */
  replica: (mirror: string) => Replica
  send: (request: SyncRequest) => Promise<SyncAnswer>
  state: ExchangeState
  /** Keeps the state for the next exchange; called before each request that moves something, and after each answer. */
  save(state: ExchangeState): Promise<void>
  /** The state as it is kept now, where other processes exchange as well. */
  refresh?(): Promise<ExchangeState>
  /** Makes a mirror when there is none, and both sides equal whatever they remember. */
  create?: boolean
  /** Called with each conflict before its result is written; after a failure perhaps twice. */
  onConflict?: (conflict: Conflict) => Promise<void>
  signal: AbortSignal
}

export interface Exchanged {
  conflicts: Conflict[]
  /** What could not be mirrored; all else was. */
  refused: Refusal[]
}
