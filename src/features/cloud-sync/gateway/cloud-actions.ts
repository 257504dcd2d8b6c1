import { emptyInput, parseInput } from '../../../admin/input.ts'
import { gatewayError } from '../../../errors.ts'
import { runWithDeadline } from '../../../lib/deadline.ts'
import { isObject } from '../../../lib/json.ts'
import { type CloudSession, paths } from '../protocol.ts'
import { checkProxyVersion, createInvalidResponseError, isRejection } from '../proxy-calls.ts'
import { addForceAdvice, disableCloud } from './cloud-disable.ts'
import { addLeftoversAdvice, enableCloud } from './cloud-enable.ts'
import { type CloudConflict, type CloudOperations, cloudInputs, type SyncedCloud } from './cloud-operations.ts'
import { createTimeoutError, EXCHANGE_TIMEOUT_MS, type ProxyContext, type WorkKind } from './cloud-replica.ts'
import { CLOUD_OFF_MESSAGE, type CloudDependencies, readCloudSettings } from './cloud-settings.ts'

/** The time limit of `check`, in ms. Clients wait this long for it (src/rules.md, Cloud sync of clients). */
const CHECK_TIMEOUT_MS = 8_000
/** When `enable` stops waiting for the cloud's model list, in ms after its start. Leaves time to finish within `EXCHANGE_TIMEOUT_MS`. */
const VERIFY_TIMEOUT_MS = 14_000

/** Creates the cloud sync operations. They start and stop `pushes`, the automatic syncs. */
export function createCloudOperations(deps: CloudDependencies): CloudOperations<unknown> {
  const { store, clock, fetch, options, replica, pushes } = deps

  /** Runs an action that needs cloud sync to be on. */
  const runIfEnabled = <T>(work: (context: ProxyContext) => Promise<T>, kind?: WorkKind) =>
    replica.runExclusive(
      async (signal) => {
        const { cloudUrl, cloudEnabled } = await readCloudSettings(store)
        if (!cloudEnabled) throw gatewayError('CLOUD_CONFLICT', { message: CLOUD_OFF_MESSAGE })
        return work({ cloudUrl, signal })
      },
      { timeoutMs: EXCHANGE_TIMEOUT_MS, ...(kind && { kind }) },
    )

  return {
    async get() {
      const { cloudUrl, cloudEnabled } = await store.settings.read()
      const { lastSuccessAt, lastError, lagMs, conflicts } = await pushes.getState()
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
      const verifyUntil = clock.now() + VERIFY_TIMEOUT_MS
      return replica
        .runExclusive((signal) => enableCloud(deps, { enrollmentToken, verifyUntil, signal }), {
          timeoutMs: EXCHANGE_TIMEOUT_MS,
        })
        .catch(async (error: unknown) => {
          throw await addLeftoversAdvice(deps, error)
        })
    },

    async sync(input: unknown = {}) {
      parseInput(emptyInput, input)
      return runIfEnabled(
        async (context) =>
          createSyncResult(await pushes.recordOutcome(() => replica.sync(context), { isSyncEnabled: true })),
        'sync',
      )
    },

    async disable(input = {}) {
      const { force = false } = parseInput(cloudInputs.disable, input)
      return replica
        .runExclusive((signal) => disableCloud(deps, { force, signal }), {
          timeoutMs: EXCHANGE_TIMEOUT_MS,
          kind: 'disable',
        })
        .then(createSyncResult, (error: unknown) => {
          throw force ? error : addForceAdvice(error)
        })
    },

    async check(input: unknown = {}) {
      parseInput(emptyInput, input)
      return runWithDeadline(
        async (signal) => {
          const { cloudUrl } = await readCloudSettings(store)
          await checkProxyVersion({ cloudUrl, fetch, signal })
          return { message: `The cloud proxy at ${cloudUrl} is running.` }
        },
        { clock, ms: CHECK_TIMEOUT_MS, createError: () => createTimeoutError(CHECK_TIMEOUT_MS) },
      )
    },

    sessions: {
      list: () =>
        runIfEnabled(async (context) => {
          const { sessions } = await replica.call({ method: 'GET', path: paths.sessions }, context)
          if (!Array.isArray(sessions) || !sessions.every(isSession)) throw createInvalidResponseError(context)
          return { sessions: sessions.map(({ id, createdAt, lastUsedAt }) => ({ id, createdAt, lastUsedAt })) }
        }),

      revoke: (id) =>
        runIfEnabled(async (context) => {
          try {
            await replica.call({ method: 'DELETE', path: paths.session(id) }, context)
          } catch (error) {
            if (isRejection(error, 'NOT_FOUND')) throw gatewayError('NOT_FOUND', { message: 'Session not found' })
            throw error
          }
          replica.forgetSession(id)
          return { success: true }
        }),
    },
  }
}

const createSyncResult = (conflicts: CloudConflict[]): SyncedCloud => ({ success: true, conflicts })

function isSession(session: unknown): session is CloudSession {
  if (!isObject(session)) return false
  return [session.id, session.createdAt, session.lastUsedAt].every((member) => typeof member === 'string')
}
