import type { CloudOperations, DisableCloud, SyncedCloud } from '../management/cloud.ts'
import type { SettingsOperations } from '../management/settings.ts'

/** How long the client waits for `enable`, `disable` and `sync`, in ms (src/rules.md, Cloud mode of clients). */
export const ACTION_MS = 15_000
/** How long the client waits for `check`, in ms. */
export const CHECK_MS = 8_000

/** The result of `cloud.disable` of a client. */
export interface DisabledCloud extends SyncedCloud {
  /** Why the preceding `sync` failed; absent when it succeeded. */
  syncError?: string
}

/**
 * `disable` as clients call it (src/rules.md, Cloud mode of clients): `sync` first, to pull the latest data. When that fails, `disable` is sent
 * all the same: the gateway pulls once more itself, and refuses to disable if it cannot, unless `force` is given.
 */
export function disableAfterSync({ sync, disable }: Pick<CloudOperations, 'sync' | 'disable'>) {
  return async (input?: DisableCloud): Promise<DisabledCloud> => {
    const before = await sync().catch((error: Error) => error)
    const done = await disable(input)
    return before instanceof Error
      ? { ...done, syncError: before.message }
      : { ...done, conflicts: [...before.conflicts, ...done.conflicts] }
  }
}

/**
 * `settings.update` as clients call it (src/rules.md, Cloud mode of clients): `cloudUrl` loses one trailing `/v1` or `/v1/`, then all trailing
 * slashes. An empty one is not saved: the rest of the change is sent without it, and when there is no rest, nothing is sent.
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
