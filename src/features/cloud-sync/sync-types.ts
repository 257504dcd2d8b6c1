import type { JsonObject } from '../../lib/json.ts'
import type { WritableStore } from '../../records/writable-store.ts'
import type { Clock } from '../../types.ts'
import type {
  Collection,
  Confirmation,
  RecordState,
  RejectionCode,
  SyncRequest,
  SyncResponse,
  Verdict,
} from './protocol.ts'

/** One side of a sync: the records of a store and their states. Its methods reject with `STORAGE_FAILED`. */
export interface Replica {
  /**
   * Applies the other side's states. Skips states that this side already has in the same or a later revision, and states of records with changes that
   * the other side hasn't seen. Doesn't merge. Resolves to the verdicts in the same order.
   */
  accept(states: readonly RecordState[]): Promise<Verdict[]>
  /**
   * Scans for changes, then lists up to `limit` states that the other side hasn't confirmed. Each call continues where the previous one ended. When
   * `more` is `false`, the next call starts over. Skips states for which `isExcluded` returns `true`.
   */
  listUnseen(limit: number, isExcluded?: (state: StateId) => boolean): Promise<UnseenStates>
  /** Marks states as confirmed by the other side. States that have changed since then stay unconfirmed. */
  confirm(confirmations: readonly Confirmation[]): Promise<void>
  /**
   * Marks all states to be sent again. `isDiverged` means that one side was restored from an old copy, so each side's changes are concurrent with the
   * changes that it lacks.
   */
  markAllUnseen(options?: { isDiverged?: boolean }): Promise<void>
  /**
   * Gateway only: applies one state and merges it if it is concurrent. Calls `report` with each conflict before writing the result. After a failure,
   * it may report the same conflict again.
   */
  merge(remote: RecordState, report?: (conflict: Conflict) => Promise<void>): Promise<Verdict>
  /**
   * Gateway only: resolves collisions, such as two combos with the same name, so both sides end up with the same record. Call this once both sides
   * have all states. Resolves to whether there were any collisions.
   */
  resolveCollisions(report?: (conflict: Conflict) => Promise<void>): Promise<boolean>
  /** Removes other replicas' shadows. Call this once the other side has confirmed this replica. */
  forgetOtherReplicas(): Promise<void>
}

/** One side of a sync: the gateway or the cloud proxy. */
export type Side = 'gateway' | 'cloud'

/** Identifies a record. */
export type StateId = Pick<RecordState, 'collection' | 'id'>

export interface UnseenStates {
  states: RecordState[]
  more: boolean
  /** Records on this side that can't be synced. */
  rejected: Rejection[]
}

/** A record that wasn't synced, with the reason. */
export interface Rejection extends StateId {
  /** A sentence with the reason. */
  message: string
  code: RejectionCode
}

/** Concurrent changes by both sides, with the side whose change won. */
export interface Conflict extends StateId {
  kept: Side
  /** When the conflict was resolved, in ISO 8601, by the gateway's clock. */
  at: string
}

/** The cloud's directory of all tenants' keys, by `digestKey`. */
export interface Claims {
  /** Resolves to `false` if another tenant has the key. */
  acquire(digest: string): Promise<boolean>
  release(digest: string): Promise<void>
}

export interface ReplicaOptions {
  store: WritableStore
  side: Side
  /** The replica's ID. */
  replicaId: string
  /** Returns the record in its stored form. Throws an error with a user-facing message if the record is invalid (gateway/replica-input.ts). */
  validate: (collection: Collection, record: JsonObject) => JsonObject
  clock: Pick<Clock, 'now'>
  claims?: Claims
  /** Whether this side may store credentials. */
  keepsSecrets: boolean
}

/** The stored progress of the gateway's syncs. */
export interface SyncProgress {
  /** The replica's ID, or `null` before there is one. */
  mirror: string | null
  stamp: string | null
  /** Names of the requests since the last response. */
  attempts?: readonly string[]
}

export interface SyncOptions {
  /** Creates the gateway's side of a replica. With `create`, the ID is known only after the first response. */
  createReplica: (id: string) => Replica
  send: (request: SyncRequest) => Promise<SyncResponse>
  state: SyncProgress
  /** Saves the state for the next sync. Called before each request with changes, and after each response. */
  save(state: SyncProgress): Promise<void>
  /** Reads the saved state, which other processes may have changed. */
  refresh?(): Promise<SyncProgress>
  /** Whether to create a replica if there is none, and to ignore the state of earlier syncs. */
  create?: boolean
  /** Called with each conflict before its result is written. After a failure, may be called again with the same conflict. */
  onConflict?: (conflict: Conflict) => Promise<void>
  signal: AbortSignal
}

export interface SyncResult {
  conflicts: Conflict[]
  /** Records that couldn't be synced. All others were synced. */
  rejected: Rejection[]
}
