import { gatewayError, isGatewayError } from '../../../errors.ts'
import { runWithDeadline } from '../../../lib/deadline.ts'
import { isLoopbackHost, isPrivateHost } from '../../../lib/urls.ts'
import { sortActiveConnections } from '../../../protocols/providers/provider-connections.ts'
import { getDefinition } from '../../../protocols/providers/provider-names.ts'
import { decryptKey } from '../../../records/keyring.ts'
import type { ConnectionRecord } from '../../../records/record-collections.ts'
import type { WritableStore } from '../../../records/writable-store.ts'
import { checkProxyVersion, probeModelList } from '../proxy-calls.ts'
import { removeLeftovers } from './cloud-disable.ts'
import type { EnabledCloud } from './cloud-operations.ts'
import { isCloudError, type ProxyContext, rejectHttp, requireConflicts } from './cloud-replica.ts'
import { type CloudDependencies, readCloudSettings, setEnabled } from './cloud-settings.ts'

type ReplicatedData = Pick<EnabledCloud, 'createdKey' | 'conflicts'>

/** Replicates all data and turns cloud sync on. Waits for the cloud's model list until `verifyUntil` at most. */
export async function enableCloud(
  deps: CloudDependencies,
  { verifyUntil, ...proxy }: Omit<ProxyContext, 'cloudUrl'> & { verifyUntil: number },
): Promise<EnabledCloud> {
  const { store, clock, options, pushes } = deps
  const { cloudUrl, cloudEnabled } = await readCloudSettings(store)
  rejectHttp(cloudUrl, options)
  const context = { cloudUrl, ...proxy }
  const { createdKey, conflicts } = await pushes.recordOutcome(
    () => (cloudEnabled ? replicateAll(deps, context) : replicateOrUndo(deps, context)),
    { isSyncEnabled: cloudEnabled },
  )
  await setEnabled(store, true, context)
  pushes.start()
  const verifyError = await findReplicaProblem(deps, context, Math.max(0, verifyUntil - clock.now()))
  const warnings = await listPrivateAddressWarnings(deps, context)
  return {
    success: true,
    verified: verifyError === undefined,
    ...(verifyError !== undefined && { verifyError }),
    ...(createdKey && { createdKey }),
    conflicts,
    ...(warnings.length > 0 && { warnings }),
  }
}

/** Adds advice to the error from a failed `enable` if the proxy may already have received data. */
export async function addLeftoversAdvice({ store, replica }: CloudDependencies, error: unknown): Promise<unknown> {
  if (!isCloudError(error) && !isGatewayError(error, 'CLOUD_CONFLICT')) return error
  const { code, message, data } = error
  try {
    const { cloudEnabled, cloudUrl } = await store.settings.read()
    if (cloudEnabled) return error
    const state = await replica.stateStore.read()
    if (state.mirror === null || state.cloudUrl !== cloudUrl) return error
  } catch {
    return error // reports the original failure instead of the storage's
  }
  return gatewayError(code, { message: `${message} ${LEFTOVERS_ADVICE}`, cause: error, data })
}

/** Replicates all data while cloud sync is off. If the proxy rejects a record, removes the replicated data from the proxy. */
async function replicateOrUndo(deps: CloudDependencies, context: ProxyContext): Promise<ReplicatedData> {
  try {
    return await replicateAll(deps, context)
  } catch (error) {
    if (!isGatewayError(error) || typeof error.data.problem !== 'string') throw error
    const { code, data } = error
    await removeLeftovers(deps, context).catch(() => {
      throw error
    })
    throw gatewayError(code, { message: `${data.problem} Cloud sync stays off, and the proxy stores nothing.` })
  }
}

/** Replicates all data. If this gateway has no keys, also creates one for the cloud's clients. */
async function replicateAll(deps: CloudDependencies, context: ProxyContext): Promise<ReplicatedData> {
  const { fetch, replica, keys } = deps
  await checkProxyVersion({ ...context, fetch })
  const conflicts = requireConflicts(await replica.exchange(context, { create: true }))
  const createdKey = await createKeyIfNone(deps, context)
  if (!createdKey) return { conflicts }
  try {
    return { createdKey, conflicts: [...conflicts, ...requireConflicts(await replica.exchange(context))] }
  } catch (error) {
    await keys.delete(createdKey.id) // without cloud sync, nobody could use this key
    throw error
  }
}

function createKeyIfNone(
  { store, keys }: CloudDependencies,
  { signal }: ProxyContext,
): Promise<EnabledCloud['createdKey']> {
  return store.runExclusive('keys', async (assertLease) => {
    if ((await store.keys.entries({ fresh: true })).length > 0) return undefined
    signal.throwIfAborted()
    assertLease()
    return keys.create({ name: 'cloud' })
  })
}

/**
 * Requests the cloud's model list with an active key. Resolves to `undefined` if the response proves that the replica works; otherwise, to a
 * description of the problem.
 */
async function findReplicaProblem(
  { store, clock, fetch }: CloudDependencies,
  { cloudUrl, signal }: ProxyContext,
  remainingMs: number,
): Promise<string | undefined> {
  const activeKey = await findActiveKey(store)
  if (!activeKey) return 'This gateway has no active API key that it can decrypt.'
  const modelsRequest = `GET ${cloudUrl}/v1/models`
  try {
    const { status, isList } = await runWithDeadline(
      (deadlineSignal) => probeModelList(activeKey.key, { cloudUrl, fetch, signal: deadlineSignal }),
      {
        clock,
        ms: remainingMs,
        createError: () => gatewayError('CLOUD_TIMEOUT', { message: `${modelsRequest} got no response in time.` }),
        signal,
      },
    )
    if (status !== 200) return `${modelsRequest} returned ${status} for the key "${activeKey.name}".`
    return isList
      ? undefined
      : `${modelsRequest} did not return a list of models. Check that "cloudUrl" points to the cloud proxy.`
  } catch (error) {
    if (signal.aborted || !isCloudError(error)) throw error
    return error.message
  }
}

/** Returns a warning if some connections have private addresses, which the proxy may be unable to reach. */
async function listPrivateAddressWarnings(
  { store, catalog }: CloudDependencies,
  { cloudUrl }: ProxyContext,
): Promise<string[]> {
  const isProxyLocal = isLoopbackHost(new URL(cloudUrl).hostname)
  const hasPrivateUrl = (connection: ConnectionRecord) => {
    const baseUrl = connection.providerSpecificData?.baseUrl ?? getDefinition(catalog, connection.provider)?.baseUrl
    if (baseUrl === undefined || !URL.canParse(baseUrl)) return false
    const { hostname } = new URL(baseUrl)
    return isPrivateHost(hostname) && !(isProxyLocal && isLoopbackHost(hostname))
  }
  const privateNames = sortActiveConnections((await store.connections.all()).filter(hasPrivateUrl)).map(
    ({ name }) => `"${name}"`,
  )
  if (privateNames.length === 0) return []
  const listedNames =
    privateNames.length > MAX_LISTED_NAMES
      ? [...privateNames.slice(0, MAX_LISTED_NAMES), `${privateNames.length - MAX_LISTED_NAMES} more`]
      : privateNames
  return [`The cloud proxy may be unable to reach the private URLs of these connections: ${listedNames.join(', ')}.`]
}

/** Finds the first active key with a value that this gateway can decrypt. */
async function findActiveKey(store: WritableStore): Promise<{ key: string; name: string } | undefined> {
  const keyring = await store.keyring()
  for (const { id, record } of await store.keys.entries()) {
    if (record.isActive === false || !(await store.isSignedKey(id, record))) continue
    const key = await decryptKey(keyring, record)
    if (key) return { key, name: record.name }
  }
  return undefined
}

/** The maximum number of connections that a warning names. */
const MAX_LISTED_NAMES = 5

const LEFTOVERS_ADVICE =
  'The proxy already has some of the data and accepts its keys. Repeat the action, or remove the data with the action "disable".'
