import * as v from 'valibot'
import type { CloudSession } from '../sync/protocol.ts'
import { closed, fields } from './input.ts'
import type { CreatedKey } from './keys.ts'

/**
 * The mirror of the gateway's data at a cloud proxy. In addition to the errors named for each operation, all of them reject with `INVALID_REQUEST`
 * (400) when there is no `cloudUrl`, `CLOUD_CONFLICT` (409) when cloud mode does not allow the operation now, `CLOUD_FAILED` (502) when there is no
 * proxy at the address, it cannot be reached or it refuses, and `CLOUD_TIMEOUT` (504) after 15 s, `check` after 8 s. `Input` is accepted besides the
 * typed input: nothing in process, `unknown` for bodies over HTTP.
 */
export interface CloudOperations<Input = never> {
  /** What this gateway knows of its mirror; the proxy is not asked. */
  get(): Promise<CloudState>
  /**
   * Mirrors all data and turns cloud mode on. Creates a key when there is none, since clients need one at the cloud. While cloud mode is on already,
   * it makes both sides equal again. Resolves also when the mirror could not be verified. When it rejects, cloud mode stays as it was. An `http:`
   * address of another machine is an `INVALID_REQUEST` unless the gateway has `cloud: { allowHttp: true }`.
   */
  enable(input?: EnableCloud | Input): Promise<EnabledCloud>
  /** Exchanges what has changed on either side since the last time. Rejects with `CLOUD_CONFLICT` while cloud mode is off. */
  sync(): Promise<SyncedCloud>
  /**
   * Takes over what has changed at the cloud, removes the mirror and all sessions there, and turns cloud mode off. While cloud mode is off, removes
   * the data that a failed `enable` left at a proxy, and rejects with `CLOUD_CONFLICT` when there is none.
   */
  disable(input?: DisableCloud | Input): Promise<SyncedCloud>
  /** Asks whether a proxy is at `cloudUrl`; `message` says that it is running. */
  check(): Promise<{ message: string }>
  sessions: CloudSessionOperations
}

/** The sessions that this gateway has at the proxy. Rejects as the actions do. */
export interface CloudSessionOperations {
  /** Times in ISO 8601. A session that is not used for a day is gone. */
  list(): Promise<{ sessions: CloudSession[] }>
  /** Ends a session; the gateway opens another one when it needs one. Rejects with `NOT_FOUND` for an unknown id. */
  revoke(id: string): Promise<{ success: true }>
}

/** How cloud mode is turned on. */
export interface EnableCloud {
  /** The proxy's enrolment credential, 32 characters or more; default: the gateway's option `cloud.enrolment`. Needed once, and never stored. */
  enrolment?: string
}

/** How cloud mode is turned off. */
export interface DisableCloud {
  /** Turn it off here even if the proxy does not answer? The mirror may then stay there. Default `false`. */
  force?: boolean
}

/** What a gateway knows of its mirror. */
export interface CloudState {
  cloudEnabled: boolean
  cloudUrl: string
  /** When the last exchange succeeded, in ISO 8601. */
  lastSuccessAt: string | null
  /** How long the oldest change that is not mirrored yet has waited, in ms; 0 when there is none. */
  lagMs: number
  /** Why the last exchange failed; `null` when it did not. */
  lastError: string | null
  /** The last 100, the oldest first. */
  conflicts: CloudConflict[]
}

/** A record that was changed on both sides since the last exchange. */
export interface CloudConflict {
  /** `keys`, `connections`, `combos`, `customModels`, `aliases`, `providers` or `settings`. */
  collection: string
  id: string
  /** The side whose change stayed. */
  kept: 'home' | 'cloud'
  /** When it was settled, in ISO 8601. */
  at: string
}

/** The result of an exchange. */
export interface SyncedCloud {
  success: true
  /** Those that this exchange settled. */
  conflicts: CloudConflict[]
}

/** The result of turning cloud mode on. */
export interface EnabledCloud extends SyncedCloud {
  /** Did the cloud answer `GET {cloudUrl}/v1/models` to one of the active keys, with a list of models? */
  verified: boolean
  /** Why not. */
  verifyError?: string
  /** The key that was made, as there was none. */
  createdKey?: CreatedKey
  /** Sentences on what will not work at the cloud, such as connections to private addresses; absent when there are none. */
  warnings?: string[]
}

/** The options of a gateway for its cloud mode. */
export interface CloudOptions {
  /** The credential that the proxy enrols gateways with; 32 characters or more. Sent once, in the message that enrols, and never stored. */
  enrolment?: string
  /**
   * May `cloudUrl` be an `http:` address of another machine? Anyone on the network path can then read and change the mirrored data. Default `false`.
   */
  allowHttp?: boolean
}

const ENROLMENT = 'must be the enrolment credential of the proxy, 32 characters or more'

export const cloudInputs = {
  enable: closed({
    enrolment: v.exactOptional(v.pipe(v.string(ENROLMENT), v.minLength(32, ENROLMENT), v.maxLength(4_096, ENROLMENT))),
  }),
  disable: closed({ force: v.exactOptional(fields.flag) }),
  sessions: {},
}

/** For operations that take no input. */
export const noInput = closed({})
