import type { DisableCloud, SyncedCloud } from '../management/cloud.ts'
import type { Client } from './client.ts'

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
 * How long `disable` waits for the `sync` that it sends first, in ms. The rest of the time-out is enough for a forced `disable` while the cloud does
 * not answer.
 */
const SYNC_FIRST_MS = 6_000

/**
 * `disable` as clients call it (src/rules.md, Cloud mode of clients): `sync` first, to pull the latest data. When that fails, `disable` is sent
 * all the same: the gateway pulls once more itself, and refuses to disable if it cannot, unless `force` is given. Both together
 * take 15 s at most.
 */
export function disableAfterSync({ sync, disable, now }: DisableSteps) {
  return async (input?: DisableCloud): Promise<DisabledCloud> => {
    const startedAt = now()
    const before = await sync(SYNC_FIRST_MS).catch((error: Error) => error)
    const done = await disable(input, Math.max(0, ACTION_MS - (now() - startedAt)))
    if (before instanceof Error) return { ...done, syncError: before.message }
    return { ...done, conflicts: [...(before.conflicts ?? []), ...(done.conflicts ?? [])] } // other gateways may not tell any
  }
}

/** The two actions, each with its time-out in ms, and the time. */
interface DisableSteps {
  sync(timeoutMs: number): Promise<Partial<SyncedCloud>>
  disable(input: DisableCloud | undefined, timeoutMs: number): Promise<SyncedCloud>
  now(): number
}

/**
 * `settings.update` as clients call it (src/rules.md, Cloud mode of clients): `cloudUrl` loses one trailing `/v1` or `/v1/`, then all trailing
 * slashes. An empty one is not saved: the rest of the change is sent without it, and when there is no rest, nothing is sent.
 */
export function updateWithCloudUrl({ get, update }: Pick<Client['settings'], 'get' | 'update'>) {
  return async (...[input, options]: Parameters<typeof update>): ReturnType<typeof update> => {
    if (typeof input?.cloudUrl !== 'string') return update(input, options)
    const { cloudUrl, ...others } = input
    const address = normalised(cloudUrl)
    if (address !== '') return update({ ...others, cloudUrl: address }, options)
    return Object.keys(others).length > 0 ? update(others, options) : get()
  }
}

function normalised(cloudUrl: string): string {
  const base = cloudUrl.trim().replace(/\/v1\/?$/, '')
  let end = base.length
  while (base[end - 1] === '/') end--
  return base.slice(0, end)
}
