import type { SettingsOperations } from '../management/settings.ts'

/** The cloud mirror (spec.md, Cloud sync). */
export interface CloudOperations {
  get(): Promise<CloudState>
  /**
   * Syncs the data to the proxy at `cloudUrl` and turns cloud mode on. It is done even when the connection could not be verified.
   * `enrolment`: the credential that the proxy takes gateways in by; default: that of the gateway's own options.
   */
  enable(input?: { enrolment?: string }): Promise<CloudEnabled>
  sync(): Promise<CloudChanged>
  /**
   * Turns cloud mode off and removes the data and sessions from the cloud, after a last sync. `force`: also when the cloud cannot be
   * reached.
   */
  disable(input?: { force?: boolean }): Promise<CloudChanged>
  /** Is the proxy at `cloudUrl` reachable? */
  check(): Promise<{ message: string }>
  sessions: {
    list(): Promise<{ sessions: CloudSession[] }>
    revoke(id: string): Promise<{ success: true }>
  }
}

/** The state of the cloud mirror. */
export interface CloudState {
  cloudEnabled: boolean
  cloudUrl: string
  /** ISO 8601; `null` before the first sync. */
  lastSuccessAt: string | null
  /** For how long a change has been waiting for the cloud; 0 when none is. */
  lagMs: number | null
  lastError: string | null
  /** The last 100. */
  conflicts: CloudConflict[]
}

/** A record that was changed on both sides, and the side whose change was kept. */
export interface CloudConflict {
  collection: string
  id: string
  kept: string
}

/** The answer to `sync` and `disable`. */
export interface CloudChanged {
  success: true
  conflicts: CloudConflict[]
}

/** The answer to `enable`. */
export interface CloudEnabled extends CloudChanged {
  /** Did a request with one of the gateway's keys reach the proxy? */
  verified: boolean
  /** Why not. */
  verifyError?: string
  /** The key that was made because there was none. */
  createdKey?: { key: string; id: string; name: string; createdAt: string }
}

/** A session of this gateway at the proxy. Times in ISO 8601. */
export interface CloudSession {
  id: string
  createdAt: string
  lastUsedAt: string
}

/** How long the client waits for an action (spec.md, Limits), in ms. */
export const ACTION_MS = 15_000
export const CHECK_MS = 8_000

/** `disable` of a client. */
export interface CloudDisabled extends CloudChanged {
  /** Why the sync before has failed; absent when it has not. */
  syncError?: string
}

/**
 * `disable` as clients call it (spec.md, Cloud mode): `sync` first, to pull the latest data. When that fails, `disable` is sent all the
 * same: the gateway pulls once more itself, and refuses to disable if it cannot, unless `force` is given.
 */
export function disableAfterSync({ sync, disable }: CloudOperations) {
  return async (input?: { force?: boolean }): Promise<CloudDisabled> => {
    const before = await sync().catch((error: Error) => error)
    const done = await disable(input)
    return before instanceof Error
      ? { ...done, syncError: before.message }
      : { ...done, conflicts: [...before.conflicts, ...done.conflicts] }
  }
}

/**
 * `settings.update` as clients call it (spec.md, Settings): `cloudUrl` loses one trailing `/v1` or `/v1/`, then all trailing slashes. An empty
 * one is not saved: the rest of the change is sent without it, and when there is no rest, nothing.
 */
export function updateWithCloudUrl({ get, update }: SettingsOperations): SettingsOperations['update'] {
  return async (input) => {
    if (typeof input?.cloudUrl !== 'string') return update(input)
    const { cloudUrl, ...others } = input
    const address = normalised(cloudUrl)
    if (address !== '') return update({ ...others, cloudUrl: address })
    return Object.keys(others).length > 0 ? update(others) : get()
  }
}

function normalised(cloudUrl: string): string {
  const base = cloudUrl.trim().replace(/\/v1\/?$/, '')
  let end = base.length
  while (base[end - 1] === '/') end--
  return base.slice(0, end)
}
