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
   * Takes each state of the other side, unless this side has it, a later one, or one that the other side hasn't seen. Doesn't merge. Resolves to the
   * verdicts in the order of the states.
   */
  accept(states: readonly RecordState[]): Promise<Verdict[]>
  /**
   * Lists up to `limit` states that the other side hasn't confirmed, after scanning for changes. Each call continues where the last one ended, and
   * restarts after the end, when `more` is `false`. Skips states for which `isLeftOut` returns `true`.
   */
  listUnseen(limit: number, isSkipped?: (state: StateId) => boolean): Promise<UnseenStates>
  /** Marks states that the other side has. States that have changed since stay unseen. */
  confirm(seen: readonly Confirmation[]): Promise<void>
  /**
   * Marks all states to be sent again. `isDiverged` means that one side was restored from an old copy, so its changes are concurrent with those it
   * lacks.
   */
  markAllUnseen(options?: { isDiverged?: boolean }): Promise<void>
  /**
   * Gateway only: takes one state and merges it if it is concurrent. Calls `report` with each conflict before writing the result; after a failure, it
   * may report the same conflict again.
   */
  merge(remote: RecordState, report?: (conflict: Conflict) => Promise<void>): Promise<Verdict>
  /**
   * Gateway only: resolves records that exclude each other, such as two combos with one name; one of them stays, on both sides. Call it when both sides
   * have all states. Resolves to whether there were any.
   */
  resolveCollisions(report?: (conflict: Conflict) => Promise<void>): Promise<boolean>
  /** Removes the shadows of other replicas. Call it once the other side has confirmed this one. */
  forgetOthers(): Promise<void>
}

/** The two sides: the gateway, and the cloud proxy. */
export type Side = 'gateway' | 'cloud'

/** Identifies a record. */
export type StateId = Pick<RecordState, 'collection' | 'id'>

export interface UnseenStates {
  states: RecordState[]
  more: boolean
  /** Records on this side that can't be synced. */
  refused: Rejection[]
}

/** A record that wasn't synced, and why. */
export interface Rejection extends StateId {
  /** A sentence. */
  message: string
  code: RejectionCode
}

/** Concurrent changes of both sides, and which one won. */
export interface Conflict extends StateId {
  kept: Side
  /** When it was resolved, in ISO 8601 by the gateway's clock. */
  at: string
}

/** The cloud's directory of all tenants' keys, by `digestKey`. */
export interface Claims {
  /** Resolves to `false` if another tenant has the key. */
  take(digest: string): Promise<boolean>
  release(digest: string): Promise<void>
}

export interface ReplicaOptions {
  store: WritableStore
  side: Side
  /** The ID of the replica. */
  replicaId: string
  /** Returns the record in its stored form. Throws an error with a user-facing message if it is invalid (admin/mirror-input.ts). */
  validate: (collection: Collection, record: JsonObject) => JsonObject
  clock: Pick<Clock, 'now'>
  claims?: Claims
  /** Whether this side may store credentials. */
  keepsSecrets: boolean
}

/** What the gateway stores about its last sync. */
export interface SyncProgress {
  /** The ID of the replica; `null` before there is one. */
  mirror: string | null
  stamp: string | null
  /** Names of the requests since the last response. */
  attempts?: readonly string[]
}

export interface SyncOptions {
  /** Creates the gateway's side of a replica. With `create`, its ID is only known after the first response. */
  createReplica: (id: string) => Replica
  send: (request: SyncRequest) => Promise<SyncResponse>
  state: SyncProgress
  /** Saves the state for the next sync; called before each request with changes, and after each response. */
  save(state: SyncProgress): Promise<void>
  /** Reads the saved state, which other processes may have changed. */
  refresh?(): Promise<SyncProgress>
  /** Creates a replica if there is none, and makes both sides equal, whatever they remember. */
  create?: boolean
  /** Called with each conflict before its result is written; may be called twice after a failure. */
  onConflict?: (conflict: Conflict) => Promise<void>
  signal: AbortSignal
}

export interface SyncResult {
  conflicts: Conflict[]
  /** Records that couldn't be synced; all others were. */
  refused: Rejection[]
}
