import { createInputError, noInput, parseInput } from '../../../admin/input.ts'
import type { KeyOperations } from '../../../admin/keys.ts'
import { type GatewayError, gatewayError, isGatewayError } from '../../../errors.ts'
import { runWithDeadline } from '../../../lib/deadline.ts'
import { isObject } from '../../../lib/json.ts'
import { isLoopbackHost, isPrivateHost } from '../../../lib/urls.ts'
import { sortActiveConnections } from '../../../protocols/providers/provider-connections.ts'
import { getDefinition } from '../../../protocols/providers/provider-names.ts'
import { decryptKey } from '../../../records/keyring.ts'
import type { ConnectionRecord } from '../../../records/record-collections.ts'
import type { WritableStore } from '../../../records/writable-store.ts'
import type { Catalog } from '../../../types.ts'
import { type CloudSession, paths } from '../protocol.ts'
import { createInvalidResponse, greetProxy, isRejection, probeModelList } from '../proxy-calls.ts'
import {
  createTimeoutError,
  EXCHANGE_MS,
  type GatewayMirror,
  type MirrorDependencies,
  type ProxyContext,
  rejectHttp,
  requireConflicts,
} from './cloud-mirror.ts'
import {
  type CloudConflict,
  type CloudOperations,
  cloudInputs,
  type EnabledCloud,
  type SyncedCloud,
} from './cloud-operations.ts'
import type { Pushes } from './cloud-pushes.ts'

/** The time limit of `check`, in ms. Clients wait this long for it (src/rules.md, Cloud sync of clients). */
const CHECK_MS = 8_000
/** How long after the start of `enable` it may still wait for the cloud's model list, in ms. Leaves time to finish within `EXCHANGE_MS`. */
const VERIFIED_MS = 14_000
/**
 * How long a forced `disable` waits for the proxy before turning cloud sync off anyway, in ms. Shorter than the time that a client has left after
 * `sync`.
 */
const FORCED_MS = 7_000

type Created = NonNullable<EnabledCloud['createdKey']>

/** Creates the cloud sync operations. They start and stop `pushes`, the automatic syncs. */
export function createCloudOperations(
  deps: MirrorDependencies & {
    mirror: GatewayMirror
    pushes: Pushes
    keys: Pick<KeyOperations<unknown>, 'create' | 'delete'>
    catalog: Catalog
  },
): CloudOperations<unknown> {
  const { store, clock, fetch, options, mirror, pushes, keys } = deps

  /** Reads the proxy's URL and whether cloud sync is on. Throws `INVALID_REQUEST` if there is no URL. */
  async function readCloudSettings() {
    const { cloudUrl, cloudEnabled } = await store.settings.reread()
    if (cloudUrl === '') throw createInputError(NO_ADDRESS)
    return { cloudUrl, cloudEnabled }
  }

  /** Returns the proxy's URL. Throws `CLOUD_CONFLICT` if cloud sync is off. */
  async function requireCloudUrl(): Promise<string> {
    const { cloudUrl, cloudEnabled } = await readCloudSettings()
    if (!cloudEnabled) throw gatewayError('CLOUD_CONFLICT', { message: OFF })
    return cloudUrl
  }

  /** Turns cloud sync on or off, unless it already is. */
  async function setEnabled(cloudEnabled: boolean, { cloudUrl, signal }: ProxyContext): Promise<void> {
    const { cloudEnabled: isOn } = await store.settings.reread()
    if (isOn === cloudEnabled) return
    await store.settings.update((stored) => {
      signal.throwIfAborted()
      if (stored.cloudUrl !== cloudUrl) throw gatewayError('CLOUD_CONFLICT', { message: MOVED })
      return { cloudEnabled }
    })
  }

  /** Creates a key for clients of the cloud if this gateway has none. */
  const createKeyIfNone = ({ signal }: ProxyContext) =>
    store.runExclusive('keys', async (ready): Promise<Created | undefined> => {
      if ((await store.keys.entries({ fresh: true })).length > 0) return undefined
      signal.throwIfAborted()
      ready()
      return keys.create({ name: 'cloud' })
    })

  /** Mirrors a key that was just created. If that fails, removes the key, because nobody could use it. */
  async function mirrorKey({ id }: Created, context: ProxyContext): Promise<CloudConflict[]> {
    try {
      return requireConflicts(await mirror.exchange(context))
    } catch (error) {
      await keys.delete(id)
      throw error
    }
  }

  async function mirrorAll(context: ProxyContext) {
    await greetProxy({ ...context, fetch })
    const conflicts = requireConflicts(await mirror.exchange(context, { create: true }))
    const createdKey = await createKeyIfNone(context)
    const more = createdKey ? await mirrorKey(createdKey, context) : []
    return { createdKey, conflicts: [...conflicts, ...more] }
  }

  /** Resolves to whether the proxy at this URL may still have the data that a failed `enable` sent. */
  async function hasLeftovers(address: string): Promise<boolean> {
    const { cloudUrl, mirror: left } = await mirror.memory.read()
    return left !== null && cloudUrl === address
  }

  /** Removes the data that a failed `enable` sent. Otherwise, the proxy would keep serving those keys, even after they are paused or deleted here. */
  async function removeLeftovers(context: ProxyContext): Promise<void> {
    await mirror.call({ method: 'DELETE', path: paths.replica }, context).catch(ignoreNotFound)
    context.signal.throwIfAborted()
    mirror.forgetSession()
    await pushes.end()
  }

  /** Mirrors all data while cloud sync is off. If the proxy rejects a record, removes all data from the proxy again. */
  async function mirrorOrUndo(context: ProxyContext) {
    try {
      return await mirrorAll(context)
    } catch (error) {
      if (!isGatewayError(error) || typeof error.data.problem !== 'string') throw error
      const { code, data } = error
      await removeLeftovers(context).catch(() => {
        throw error
      })
      throw gatewayError(code, { message: `${data.problem} Cloud sync stays off, and the proxy stores nothing.` })
    }
  }

  /** Adds advice to the error of `enable` if the proxy may already have received data. */
  async function reportLeftovers(error: unknown): Promise<unknown> {
    if (!isCloudError(error) && !isGatewayError(error, 'CLOUD_CONFLICT')) return error
    const { code, message, data } = error
    try {
      const { cloudEnabled, cloudUrl } = await store.settings.read()
      if (cloudEnabled || !(await hasLeftovers(cloudUrl))) return error
    } catch {
      return error // report the original failure instead of the storage's
    }
    return gatewayError(code, { message: `${message} ${LEFTOVERS}`, cause: error, data })
  }

  const createContext = (cloudUrl: string, signal: AbortSignal, enrollmentToken?: string): ProxyContext => ({
    cloudUrl,
    signal,
    enrollmentToken,
  })

  return {
    async get() {
      const { cloudUrl, cloudEnabled } = await store.settings.read()
      const { lastSuccessAt, lastError, lagMs, conflicts } = await pushes.state()
      return {
        cloudEnabled,
        cloudUrl,
        lastSuccessAt,
        lagMs: cloudEnabled ? lagMs : 0,
        lastError: cloudEnabled ? lastError : null,
        conflicts,
      }
    },

    async enable(input = {}) {
      const { enrollmentToken = options.enrollmentToken } = parseInput(cloudInputs.enable, input)
      const startedAt = clock.now()
      return mirror
        .runExclusive<EnabledCloud>(
          async (signal) => {
            const { cloudUrl, cloudEnabled } = await readCloudSettings()
            rejectHttp(cloudUrl, options)
            const context = createContext(cloudUrl, signal, enrollmentToken)
            const { createdKey, conflicts } = await pushes.recordOutcome(
              () => (cloudEnabled ? mirrorAll(context) : mirrorOrUndo(context)),
              { isOn: cloudEnabled },
            )
            await setEnabled(true, context)
            pushes.begin()
            const verifyError = await findMirrorProblem(
              deps,
              context,
              Math.max(0, VERIFIED_MS - (clock.now() - startedAt)),
            )
            const warnings = await listPrivateAddressWarnings(deps, context)
            return {
              success: true,
              verified: verifyError === undefined,
              ...(verifyError !== undefined && { verifyError }),
              ...(createdKey && { createdKey }),
              conflicts,
              ...(warnings.length > 0 && { warnings }),
            }
          },
          { ms: EXCHANGE_MS },
        )
        .catch(async (error: unknown) => {
          throw await reportLeftovers(error)
        })
    },

    async sync(input: unknown = {}) {
      parseInput(noInput, input)
      return mirror.runExclusive(
        async (signal) => {
          const context = createContext(await requireCloudUrl(), signal)
          const conflicts = await pushes.recordOutcome(() => mirror.sync(context), { isOn: true })
          return createSyncResult(conflicts)
        },
        { ms: EXCHANGE_MS, kind: 'sync' },
      )
    },

    async disable(input = {}) {
      const { force = false } = parseInput(cloudInputs.disable, input)
      return mirror
        .runExclusive(
          async (signal) => {
            const left = await mirror.memory.read()
            const { cloudEnabled: isOn } = await store.settings.reread()
            const { cloudUrl } = isOn || left.mirror === null ? await readCloudSettings() : left // the setting may have changed since then
            if (!isOn) {
              if (left.mirror === null) throw gatewayError('CLOUD_CONFLICT', { message: OFF })
              await removeLeftovers(createContext(cloudUrl, signal)).catch((error: unknown) => {
                if (force && !signal.aborted && isCloudError(error)) return pushes.end()
                throw error
              })
              return createSyncResult([])
            }
            const ms = force ? FORCED_MS : EXCHANGE_MS
            const conflicts = await runWithDeadline((inTime) => removeMirror(mirror, createContext(cloudUrl, inTime)), {
              clock,
              ms,
              late: () => createTimeoutError(ms),
              signal,
            }).catch((error: unknown): CloudConflict[] => {
              if (force && !signal.aborted && isCloudError(error)) return []
              throw error
            })
            await setEnabled(false, createContext(cloudUrl, signal))
            mirror.forgetSession()
            await pushes.end()
            return createSyncResult(conflicts)
          },
          { ms: EXCHANGE_MS, kind: 'disable' },
        )
        .catch((error: unknown) => {
          throw force ? error : addRemedy(error)
        })
    },

    async check(input: unknown = {}) {
      parseInput(noInput, input)
      return runWithDeadline(
        async (signal) => {
          const { cloudUrl } = await readCloudSettings()
          await greetProxy({ cloudUrl, fetch, signal })
          return { message: `The cloud proxy at ${cloudUrl} is running.` }
        },
        { clock, ms: CHECK_MS, late: () => createTimeoutError(CHECK_MS) },
      )
    },

    sessions: {
      list: () =>
        mirror.runExclusive(
          async (signal) => {
            const context = createContext(await requireCloudUrl(), signal)
            const { sessions } = await mirror.call({ method: 'GET', path: paths.sessions }, context)
            if (!Array.isArray(sessions) || !sessions.every(isSession)) throw createInvalidResponse(context)
            return { sessions: sessions.map(({ id, createdAt, lastUsedAt }) => ({ id, createdAt, lastUsedAt })) }
          },
          { ms: EXCHANGE_MS },
        ),

      revoke: (id) =>
        mirror.runExclusive(
          async (signal) => {
            const context = createContext(await requireCloudUrl(), signal)
            try {
              await mirror.call({ method: 'DELETE', path: paths.session(id) }, context)
            } catch (error) {
              if (isRejection(error, 'NOT_FOUND')) throw gatewayError('NOT_FOUND', { message: 'Session not found' })
              throw error
            }
            mirror.forgetSession(id)
            return { success: true }
          },
          { ms: EXCHANGE_MS },
        ),
    },
  }
}

/**
 * Requests the cloud's model list with one of the active keys. Resolves to `undefined` if the response proves that the mirror works, otherwise to the
 * problem.
 */
async function findMirrorProblem(
  { store, clock, fetch }: Pick<MirrorDependencies, 'store' | 'clock' | 'fetch'>,
  { cloudUrl, signal }: ProxyContext,
  leftMs: number,
): Promise<string | undefined> {
  const found = await findActiveKey(store)
  if (!found) return 'This gateway has no active API key that it can decrypt.'
  const models = `GET ${cloudUrl}/v1/models`
  try {
    const { status, isList } = await runWithDeadline(
      (inTime) => probeModelList(found.key, { cloudUrl, fetch, signal: inTime }),
      {
        clock,
        ms: leftMs,
        late: () => gatewayError('CLOUD_TIMEOUT', { message: `${models} got no response in time.` }),
        signal,
      },
    )
    if (status !== 200) return `${models} returned ${status} for the key "${found.name}".`
    return isList
      ? undefined
      : `${models} did not return a list of models. Check that "cloudUrl" points to the cloud proxy.`
  } catch (error) {
    if (signal.aborted || !isCloudError(error)) throw error
    return error.message
  }
}

/** Returns a warning if some connections have private addresses, which the proxy may be unable to reach. */
async function listPrivateAddressWarnings(
  { store, catalog }: { store: WritableStore; catalog: Catalog },
  { cloudUrl }: ProxyContext,
): Promise<string[]> {
  const isLocal = isLoopbackHost(new URL(cloudUrl).hostname)
  const isNear = (connection: ConnectionRecord) => {
    const address = connection.providerSpecificData?.baseUrl ?? getDefinition(catalog, connection.provider)?.baseUrl
    if (address === undefined || !URL.canParse(address)) return false
    const { hostname } = new URL(address)
    return isPrivateHost(hostname) && !(isLocal && isLoopbackHost(hostname))
  }
  const near = sortActiveConnections((await store.connections.all()).filter(isNear)).map(({ name }) => `"${name}"`)
  if (near.length === 0) return []
  const named = near.length > MAX_NAMED ? [...near.slice(0, MAX_NAMED), `${near.length - MAX_NAMED} more`] : near
  return [`The cloud proxy may be unable to reach the private URLs of these connections: ${named.join(', ')}.`]
}

/**
 * Applies changes from the cloud, then removes the mirror with all sessions. A mirror that no longer exists, for example after a lost response,
 * counts as removed.
 */
async function removeMirror(mirror: GatewayMirror, context: ProxyContext): Promise<CloudConflict[]> {
  const last = await mirror.exchange(context).catch(ignoreNotFound)
  await mirror.call({ method: 'DELETE', path: paths.replica }, context).catch(ignoreNotFound)
  return last?.conflicts ?? []
}

function ignoreNotFound(error: unknown): undefined {
  if (!isRejection(error, 'MIRROR_GONE', 'NOT_ENROLLED')) throw error
}

/** Finds the first key that works for clients and whose value this gateway can decrypt. */
async function findActiveKey(store: WritableStore): Promise<{ key: string; name: string } | undefined> {
  const keyring = await store.keyring()
  for (const { id, record } of await store.keys.entries()) {
    if (record.isActive === false || !(await store.isSignedKey(id, record))) continue
    const key = await decryptKey(keyring, record)
    if (key) return { key, name: record.name }
  }
  return undefined
}

const createSyncResult = (conflicts: CloudConflict[]): SyncedCloud => ({ success: true, conflicts })

const isCloudError = (error: unknown): error is GatewayError =>
  isGatewayError(error, 'CLOUD_FAILED') || isGatewayError(error, 'CLOUD_TIMEOUT')

/** Adds advice to the error of `disable`: how to turn cloud sync off anyway. */
function addRemedy(error: unknown): unknown {
  if (!isCloudError(error)) return error
  const { code, message, data } = error
  return gatewayError(code, { message: `${message} ${FORCE_ADVICE}`, cause: error, data })
}

function isSession(session: unknown): session is CloudSession {
  if (!isObject(session)) return false
  return [session.id, session.createdAt, session.lastUsedAt].every((member) => typeof member === 'string')
}

/** The maximum number of connections that a warning names. */
const MAX_NAMED = 5

const NO_ADDRESS = 'No cloud proxy is set up. Send PATCH /api/settings with its URL as "cloudUrl" first.'
const OFF = 'Cloud sync is off. Turn it on first: POST /api/sync/cloud with the action "enable".'
const MOVED = '"cloudUrl" was changed in the meantime. Send the action again.'
const LEFTOVERS =
  'The proxy already has some of the data and accepts its keys. Repeat the action, or remove the data with the action "disable".'
const FORCE_ADVICE =
  'To turn cloud sync off here anyway, send "force": true with the action. The replica may then stay on the proxy.'
