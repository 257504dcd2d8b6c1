import { gatewayError } from '../../../errors.ts'
import { runWithDeadline } from '../../../lib/deadline.ts'
import { paths } from '../protocol.ts'
import { isRejection } from '../proxy-calls.ts'
import type { CloudConflict } from './cloud-operations.ts'
import { createTimeoutError, EXCHANGE_TIMEOUT_MS, isCloudError, type ProxyContext } from './cloud-replica.ts'
import { CLOUD_OFF_MESSAGE, type CloudDependencies, readCloudSettings, setEnabled } from './cloud-settings.ts'

/**
 * How long a forced `disable` waits for the proxy before turning cloud sync off anyway, in ms. Clients may already have waited for `sync`, so this is
 * less than the time they have left.
 */
const FORCED_TIMEOUT_MS = 7_000

/** Turns cloud sync off. If it is already off, removes the data that a failed `enable` left at the proxy. With `force`, ignores proxy failures. */
export async function disableCloud(
  deps: CloudDependencies,
  { force, signal }: { force: boolean; signal: AbortSignal },
): Promise<CloudConflict[]> {
  const { store, clock, replica, pushes } = deps
  const ignoreIfForced = (error: unknown) => {
    if (!force || signal.aborted || !isCloudError(error)) throw error
  }
  const state = await replica.stateStore.read()
  const { cloudEnabled } = await store.settings.reread()
  if (!cloudEnabled && state.mirror !== null) {
    const context = { cloudUrl: state.cloudUrl, signal } // the setting may have changed since `enable` failed
    await removeLeftovers(deps, context).catch((error: unknown) => {
      ignoreIfForced(error)
      return pushes.stop()
    })
    return []
  }
  const { cloudUrl } = await readCloudSettings(store)
  if (!cloudEnabled) throw gatewayError('CLOUD_CONFLICT', { message: CLOUD_OFF_MESSAGE })
  const timeoutMs = force ? FORCED_TIMEOUT_MS : EXCHANGE_TIMEOUT_MS
  const conflicts = await runWithDeadline(
    (deadlineSignal) => removeCloudReplica(deps, { cloudUrl, signal: deadlineSignal }),
    {
      clock,
      ms: timeoutMs,
      createError: () => createTimeoutError(timeoutMs),
      signal,
    },
  ).catch(ignoreIfForced)
  await setEnabled(store, false, { cloudUrl, signal })
  replica.forgetSession()
  await pushes.stop()
  return conflicts ?? []
}

/**
 * Removes the data that a failed `enable` sent. Otherwise, the proxy would keep accepting the replicated keys even after they are paused or deleted
 * here.
 */
export async function removeLeftovers({ replica, pushes }: CloudDependencies, context: ProxyContext): Promise<void> {
  await replica.call({ method: 'DELETE', path: paths.replica }, context).catch(ignoreNotFound)
  context.signal.throwIfAborted()
  replica.forgetSession()
  await pushes.stop()
}

/**
 * Applies changes from the cloud, then removes the replica and all sessions. A replica that no longer exists, for example after a lost response, is
 * treated as removed.
 */
async function removeCloudReplica({ replica }: CloudDependencies, context: ProxyContext): Promise<CloudConflict[]> {
  const lastResult = await replica.exchange(context).catch(ignoreNotFound)
  await replica.call({ method: 'DELETE', path: paths.replica }, context).catch(ignoreNotFound)
  return lastResult?.conflicts ?? []
}

function ignoreNotFound(error: unknown): undefined {
  if (!isRejection(error, 'MIRROR_GONE', 'NOT_ENROLLED')) throw error
}

/** Adds advice to the error from a failed `disable`: how to turn cloud sync off anyway. */
export function addForceAdvice(error: unknown): unknown {
  if (!isCloudError(error)) return error
  const { code, message, data } = error
  return gatewayError(code, { message: `${message} ${FORCE_ADVICE}`, cause: error, data })
}

const FORCE_ADVICE =
  'To turn cloud sync off here anyway, send "force": true with the action. The replica may then stay on the proxy.'
