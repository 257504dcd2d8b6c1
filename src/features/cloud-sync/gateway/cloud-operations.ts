import * as v from 'valibot'
import { closedObject, fields } from '../../../admin/input.ts'
import type { CreatedKey } from '../../../admin/keys.ts'
import type { IsoTime } from '../../../types/plain-types.ts'
import type { CloudSession } from '../protocol.ts'

/**
 * Cloud sync: keeps a copy of the gateway's data at a cloud proxy. In addition to the errors listed for each operation, all of them reject with:
 * - `INVALID_REQUEST` (400) if there is no `cloudUrl`
 * - `CLOUD_CONFLICT` (409) if the current state doesn't allow the operation
 * - `CLOUD_FAILED` (502) if there is no proxy at that URL, it is unreachable, or it rejects the call
 * - `CLOUD_TIMEOUT` (504) after 15 s, or 8 s for `check`
 *
 * The operations accept `Input` as well as the typed input: `never` for in-process calls, `unknown` for HTTP bodies.
 */
export interface CloudOperations<Input = never> {
  /** Returns what this gateway knows about cloud sync. Doesn't call the proxy. */
  get(): Promise<CloudState>
  /**
   * Uploads all data and turns cloud sync on. Creates a key if there is none, because clients need one at the proxy. If cloud sync is already on,
   * syncs everything again. Also resolves if the result couldn't be verified. If the call rejects, cloud sync stays on or off, as before. An `http:`
   * URL of another machine is rejected with `INVALID_REQUEST` unless the gateway has `cloud: { allowHttp: true }`.
   */
  enable(input?: EnableCloud | Input): Promise<EnabledCloud>
  /** Syncs changes in both directions now. Rejects with `CLOUD_CONFLICT` while cloud sync is off. */
  sync(): Promise<SyncedCloud>
  /**
   * Fetches the latest changes from the proxy, deletes all data and sessions there, and turns cloud sync off. If cloud sync is already off, deletes
   * the data that a failed `enable` left at a proxy. Rejects with `CLOUD_CONFLICT` if there is none.
   */
  disable(input?: DisableCloud | Input): Promise<SyncedCloud>
  /** Checks that a proxy is running at `cloudUrl`; `message` reports the result. */
  check(): Promise<{ message: string }>
  sessions: CloudSessionOperations
}

/** This gateway's sessions at the proxy. The operations reject with the same errors as the other cloud sync operations. */
export interface CloudSessionOperations {
  /** Lists the sessions, with times in ISO 8601. A session expires after a day without use. */
  list(): Promise<{ sessions: CloudSession[] }>
  /** Ends a session. The gateway opens a new one when it needs one. Rejects with `NOT_FOUND` for an unknown ID. */
  revoke(id: string): Promise<{ success: true }>
}

/** Options for turning cloud sync on. */
export interface EnableCloud {
  /**
   * The proxy's enrollment token, at least 32 characters. Needed only once and never stored. Default: the gateway's option `cloud.enrollmentToken`.
   */
  enrollmentToken?: string
}

/** Options for turning cloud sync off. */
export interface DisableCloud {
  /** Turns cloud sync off even if the proxy doesn't respond; data may remain there. Default: `false`. */
  force?: boolean
}

/** The state of cloud sync. */
export interface CloudState {
  cloudEnabled: boolean
  cloudUrl: string
  /** Time of the last successful sync, in ISO 8601. */
  lastSuccessAt: IsoTime | null
  /** How long the oldest unsynced change has been waiting, in ms. 0 if there is none. */
  lagMs: number
  /** Why the last sync failed, or `null` if it succeeded. */
  lastError: string | null
  /** The last 100 conflicts, oldest first. */
  conflicts: CloudConflict[]
}

/** A record that was changed on both sides since the last sync. */
export interface CloudConflict {
  /** `keys`, `groups`, `connections`, `combos`, `customModels`, `aliases`, `providers`, or `settings`. */
  collection: string
  id: string
  /** The side whose change won. */
  kept: 'gateway' | 'cloud'
  /** When the conflict was resolved, in ISO 8601. */
  at: IsoTime
}

/** The result of a sync. */
export interface SyncedCloud {
  success: true
  /** Conflicts that this sync resolved. */
  conflicts: CloudConflict[]
}

/** The result of turning cloud sync on. */
export interface EnabledCloud extends SyncedCloud {
  /** Whether the proxy responded to `GET {cloudUrl}/v1/models` with a list of models for one of the active keys. */
  verified: boolean
  /** Why the replica couldn't be verified. */
  verifyError?: string
  /** The key that was created because there was none. */
  createdKey?: CreatedKey
  /** Features that won't work at the proxy, such as connections to private addresses. Absent if everything works. */
  warnings?: string[]
}

/** Options for cloud sync. */
export interface CloudOptions {
  /** The proxy's enrollment token, at least 32 characters. Sent once, when the gateway enrolls, and never stored. */
  enrollmentToken?: string
  /**
   * Allows `cloudUrl` to be an `http:` URL of another machine. Anyone on the network path can then read and change the synced data. Default: `false`.
   */
  allowHttp?: boolean
}

const ENROLLMENT_TOKEN_MESSAGE = 'must be the enrollment token of the proxy, at least 32 characters'

export const cloudInputs = {
  enable: closedObject({
    enrollmentToken: v.exactOptional(
      v.pipe(
        v.string(ENROLLMENT_TOKEN_MESSAGE),
        v.minLength(32, ENROLLMENT_TOKEN_MESSAGE),
        v.maxLength(4_096, ENROLLMENT_TOKEN_MESSAGE),
      ),
    ),
  }),
  disable: closedObject({ force: v.exactOptional(fields.flag) }),
  sessions: {},
}
