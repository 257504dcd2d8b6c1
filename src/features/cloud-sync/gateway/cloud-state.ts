import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import { handleStorageError, retryOnConflict } from '../../../records/storage-access.ts'
import type { Storage } from '../../../types.ts'
import type { CloudConflict } from './cloud-operations.ts'

/** The state of a replica, shared by all gateways on one storage. */
export interface CloudReplicaState {
  /** The URL of the proxy that has the replica. */
  cloudUrl: string
  mirror: string | null
  stamp: string | null
  /** The requests sent since the last response. They prove to the proxy that this storage wasn't restored from an old copy. */
  attempts: readonly string[]
  /** ISO 8601. */
  lastSuccessAt: string | null
  /** The last sync's error, or `null` if it succeeded. */
  lastError: string | null
  /** When the oldest change began waiting to be replicated, in ISO 8601. `null` if none is waiting. */
  waitingSince: string | null
  /** The last `MAX_CONFLICTS`, oldest first. */
  conflicts: CloudConflict[]
}

/**
 * Reads and writes the state. Rejects with `STORAGE_FAILED`. If the stored state is damaged, starts over with an empty state, so everything is sent
 * again.
 */
export interface CloudReplicaStateStore {
  read(): Promise<CloudReplicaState>
  /**
   * Applies `change` to the state and writes the result. Retries if another gateway writes at the same time. Doesn't write if nothing changes, or
   * once `signal` is aborted.
   */
  update(
    getChanges: (state: CloudReplicaState) => Partial<CloudReplicaState>,
    signal?: AbortSignal,
  ): Promise<CloudReplicaState>
}

const MIRROR_KEY = 'cloud/mirror'
const MAX_CONFLICTS = 100

export function createCloudReplicaStateStore(storage: Storage): CloudReplicaStateStore {
  const readStored = async () => storage.get(MIRROR_KEY).catch(handleStorageError('read', MIRROR_KEY))

  return {
    read: async () => parseState((await readStored())?.value),

    update: (change, signal) =>
      retryOnConflict(async () => {
        const stored = await readStored()
        const state = parseState(stored?.value)
        const { conflicts, ...nextState } = { ...state, ...change(state) }
        const value = JSON.stringify({ ...nextState, conflicts: conflicts.slice(-MAX_CONFLICTS) })
        signal?.throwIfAborted()
        if (value !== stored?.value) {
          const ifVersion = stored?.version ?? null
          if (!(await storage.set(MIRROR_KEY, value, { ifVersion }).catch(handleStorageError('write', MIRROR_KEY))))
            return false
        }
        return { ...nextState, conflicts }
      }),
  }
}

function parseState(text: string | undefined): CloudReplicaState {
  const storedState = text === undefined ? {} : tryParseJson(text)
  const fields = isObject(storedState) ? storedState : {}
  const getString = (value: unknown) => (typeof value === 'string' ? value : null)
  return {
    cloudUrl: getString(fields.cloudUrl) ?? '',
    mirror: getString(fields.mirror),
    stamp: getString(fields.stamp),
    attempts: Array.isArray(fields.attempts) ? fields.attempts.filter((attempt) => typeof attempt === 'string') : [],
    lastSuccessAt: getString(fields.lastSuccessAt),
    lastError: getString(fields.lastError),
    waitingSince: getString(fields.waitingSince),
    conflicts: Array.isArray(fields.conflicts) ? fields.conflicts.filter(isObject).flatMap(parseConflict) : [],
  }
}

function parseConflict({ collection, id, kept, at }: JsonObject): CloudConflict[] {
  if (typeof collection !== 'string' || typeof id !== 'string' || typeof at !== 'string') return []
  const side = kept === 'home' ? 'gateway' : kept // earlier builds stored `home`
  return side === 'gateway' || side === 'cloud' ? [{ collection, id, kept: side, at }] : []
}
