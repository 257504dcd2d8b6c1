import { randomBytes, toHex } from '../../lib/bytes.ts'
import {
  type Confirmation,
  MAX_ATTEMPTS,
  MAX_STATES,
  type RecordState,
  type SyncRequest,
  type SyncResponse,
} from './protocol.ts'
import { isRejection } from './proxy-calls.ts'
import type { Conflict, Rejection, Replica, StateId, SyncOptions, SyncResult } from './sync-types.ts'

/**
 * Syncs all changes by both sides until neither side has more. Runs on the gateway. Rejects with the same errors as `send`, but doesn't undo changes
 * that were already synced. Doesn't write any records after the signal is aborted.
 */
export async function syncReplicas(options: SyncOptions): Promise<SyncResult> {
  const { send, save, refresh, create = false, onConflict = async () => {}, signal } = options
  const conflicts: Conflict[] = []
  const rejections = new Map<string, Rejection>()
  let state = options.state

  async function reportConflict(conflict: Conflict): Promise<void> {
    signal.throwIfAborted()
    await onConflict(conflict)
    conflicts.push(conflict)
  }

  /** Adopts the progress that other processes have saved in the meantime. Resolves to whether it differs. */
  async function adoptSavedState(): Promise<boolean> {
    const { mirror, stamp, attempts = [] } = (await refresh?.()) ?? state
    const isDifferentState =
      mirror === state.mirror && (stamp !== state.stamp || attempts.at(-1) !== state.attempts?.at(-1))
    if (isDifferentState) state = { mirror, stamp, attempts }
    return isDifferentState
  }

  /** Sends a request. Resolves to `undefined` if the sides disagree about their last sync. */
  async function sendRequest(
    request: Pick<SyncRequest, 'changes' | 'seen' | 'create' | 'full'>,
  ): Promise<SyncResponse | undefined> {
    signal.throwIfAborted()
    const hasChanges = request.full || request.changes.length > 0 || request.seen.length > 0
    if (hasChanges) await adoptSavedState()
    const attempts = [...(state.attempts ?? []), toHex(randomBytes(8))].slice(-MAX_ATTEMPTS)
    if (hasChanges) {
      state = { ...state, attempts }
      await save(state)
    }
    const response = await send({ ...state, attempts, ...request }).catch((error: unknown) => {
      if (isRejection(error, 'HISTORY_DIVERGED') && !request.full) return undefined
      throw error
    })
    signal.throwIfAborted()
    if (!response) return (await adoptSavedState()) ? sendRequest(request) : undefined
    state = { mirror: response.mirror, stamp: response.stamp }
    await save(state)
    return response
  }

  // States are meaningful only within one replica, so nothing is sent before the replica's ID is known.
  let isDiverged = false
  if (create || state.mirror === null)
    isDiverged = (await sendRequest({ ...(create && { create }), changes: [], seen: [] })) === undefined
  const replica = options.createReplica(state.mirror ?? '')
  let isFullSync = create || isDiverged
  signal.throwIfAborted()
  if (isFullSync) await replica.markAllUnseen({ isDiverged })

  /** Received states, to be confirmed with the next request. */
  let confirmations: Confirmation[] = []
  /** All states sent and received in this sync. Ensures that an unchanged state can't keep the sync running forever. */
  const exchangedStates = new Set<string>()
  for (;;) {
    signal.throwIfAborted()
    const { states, more, rejected } = await replica.listUnseen(MAX_STATES, (state) =>
      rejections.has(getStateName(state)),
    )
    for (const rejection of rejected) rejections.set(getStateName(rejection), rejection)
    const response = await sendRequest({
      changes: states,
      seen: confirmations,
      ...(isFullSync && { full: isFullSync }),
    })
    if (!response) {
      await replica.markAllUnseen({ isDiverged: true })
      isFullSync = true
      confirmations = []
      continue
    }
    isFullSync = false
    const hasSent = await applyVerdicts(replica, states, response)
    confirmations = []
    let hasReceived = false
    for (const change of response.changes) {
      signal.throwIfAborted()
      const verdict = await replica.merge(change, reportConflict)
      if (typeof verdict !== 'string') {
        rejections.set(getStateName(change), { ...getStateId(change), message: verdict.refused, code: verdict.code })
        continue
      }
      if (addIfNew(exchangedStates, change)) confirmations.push(toConfirmation(change))
      else if (verdict !== 'taken') continue
      hasReceived = true
    }
    if (hasSent || hasReceived || more || response.more) continue
    if (!(await replica.resolveCollisions(reportConflict))) break
  }
  if (create) await replica.forgetOtherReplicas()
  return { conflicts, rejected: [...rejections.values()] }

  /** Applies the verdicts. Resolves to whether any state was sent for the first time. */
  async function applyVerdicts(replica: Replica, states: RecordState[], response: SyncResponse): Promise<boolean> {
    const acceptedStates: Confirmation[] = []
    states.forEach((sentState, index) => {
      const verdict = response.verdicts[index]
      if (verdict === 'taken' || verdict === 'known') acceptedStates.push(toConfirmation(sentState))
      else if (typeof verdict === 'object')
        rejections.set(getStateName(sentState), {
          ...getStateId(sentState),
          message: verdict.refused,
          code: verdict.code,
        })
    })
    signal.throwIfAborted()
    await replica.confirm(acceptedStates)
    return states.filter((state) => addIfNew(exchangedStates, state, 'sent')).length > 0
  }
}

const getStateName = ({ collection, id }: StateId) => `${collection}/${id}`
const getStateId = ({ collection, id }: StateId) => ({ collection, id })

function addIfNew(
  knownStates: Set<string>,
  { collection, id, revision, active }: RecordState,
  direction: 'sent' | 'received' = 'received',
): boolean {
  const name = JSON.stringify([direction, collection, id, revision, active])
  if (knownStates.has(name)) return false
  knownStates.add(name)
  return true
}

const toConfirmation = ({ active, ...state }: RecordState): Confirmation => ({
  ...getStateId(state),
  revision: state.revision,
  ...(active && { activeRevision: active.revision }),
})
