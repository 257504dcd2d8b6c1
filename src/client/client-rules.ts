import type { DisableCloud, SyncedCloud } from '../features/cloud-sync/gateway/cloud-operations.ts'
import type { Client } from './client.ts'

/** The timeout of `enable`, `disable`, and `sync`, in ms (src/rules.md, Cloud sync of clients). */
export const ACTION_TIMEOUT_MS = 15_000
/** The timeout of `check`, in ms. */
export const CHECK_TIMEOUT_MS = 8_000

/** The result of a client's `cloud.disable`. */
export interface DisabledCloud extends SyncedCloud {
  /** Why the preceding `sync` failed. Absent if it succeeded. */
  syncError?: string
}

/**
 * The timeout of the `sync` that precedes a `disable`, in ms. The remaining time is enough for a forced `disable` even if the proxy doesn't respond.
 */
const SYNC_TIMEOUT_MS = 6_000

/**
 * Creates the clients' `disable` (src/rules.md, Cloud sync of clients). It sends `sync` first, to fetch the latest data. If that fails, it sends
 * `disable` anyway: the gateway then fetches once more, and fails if it can't, unless `force` is set. Both requests together take at most 15 s.
 */
export function disableAfterSync({ sync, disable, now }: DisableSteps) {
  return async (input?: DisableCloud): Promise<DisabledCloud> => {
    const startedAt = now()
    const syncResult = await sync(SYNC_TIMEOUT_MS).catch((error: Error) => error)
    const disableResult = await disable(input, Math.max(0, ACTION_TIMEOUT_MS - (now() - startedAt)))
    if (syncResult instanceof Error) return { ...disableResult, syncError: syncResult.message }
    return { ...disableResult, conflicts: [...(syncResult.conflicts ?? []), ...(disableResult.conflicts ?? [])] } // a gateway with another version may omit `conflicts`
  }
}

/** The two actions, which take a timeout in ms, and a clock. */
interface DisableSteps {
  sync(timeoutMs: number): Promise<Partial<SyncedCloud>>
  disable(input: DisableCloud | undefined, timeoutMs: number): Promise<SyncedCloud>
  now(): number
}

/**
 * Creates the clients' `settings.update` (src/rules.md, Cloud sync of clients). It removes one trailing `/v1` or `/v1/` from `cloudUrl`, then all
 * trailing slashes. An empty `cloudUrl` isn't saved: the other fields are sent without it, and if there are none, nothing is sent.
 */
export function updateWithCloudUrl({ get, update }: Pick<Client['settings'], 'get' | 'update'>) {
  return async (...[input, options]: Parameters<typeof update>): ReturnType<typeof update> => {
    if (typeof input?.cloudUrl !== 'string') return update(input, options)
    const { cloudUrl, ...others } = input
    const normalizedUrl = normalizeUrl(cloudUrl)
    if (normalizedUrl !== '') return update({ ...others, cloudUrl: normalizedUrl }, options)
    return Object.keys(others).length > 0 ? update(others, options) : get()
  }
}

function normalizeUrl(cloudUrl: string): string {
  const trimmedUrl = cloudUrl.trim().replace(/\/v1\/?$/, '')
  let endIndex = trimmedUrl.length
  while (trimmedUrl[endIndex - 1] === '/') endIndex--
  return trimmedUrl.slice(0, endIndex)
}
