import { randomBytes, toHex } from '../lib/bytes.ts'
import { MAX_ATTEMPTS, MAX_STATES, type MirrorState, type Seen, type SyncAnswer, type SyncRequest } from './protocol.ts'
import { isRefusal } from './proxy-calls.ts'
import type { Conflict, Exchanged, ExchangeOptions, Refusal, Replica, StateId } from './types.ts'

/**
 * Exchanges all that has changed on either side, from home, until neither has anything more. Rejects with what `send` rejects with; what was
 * exchanged until then stays. After the signal is aborted no other record is written.
 */
export async function exchange(options: ExchangeOptions): Promise<Exchanged> {
  const { send, save, refresh, create = false, onConflict = async () => {}, signal } = options
  const conflicts: Conflict[] = []
  const refusals = new Map<string, Refusal>()
  let state = options.state

  async function report(conflict: Conflict): Promise<void> {
    signal.throwIfAborted()
    await onConflict(conflict)
    conflicts.push(conflict)
  }

  /** Takes over what other processes have kept meanwhile. Resolves to whether that is anything. */
  async function refreshed(): Promise<boolean> {
    const { mirror, stamp, attempts = [] } = (await refresh?.()) ?? state
    const isOther = mirror === state.mirror && (stamp !== state.stamp || attempts.at(-1) !== state.attempts?.at(-1))
    if (isOther) state = { mirror, stamp, attempts }
    return isOther
  }

  /** `undefined` when the two sides do not remember the same last exchange. */
  async function ask(
    request: Pick<SyncRequest, 'changes' | 'seen' | 'create' | 'full'>,
  ): Promise<SyncAnswer | undefined> {
    signal.throwIfAborted()
    const isMoving = request.full || request.changes.length > 0 || request.seen.length > 0
    if (isMoving) await refreshed()
    const attempts = [...(state.attempts ?? []), toHex(randomBytes(8))].slice(-MAX_ATTEMPTS)
    if (isMoving) {
      state = { ...state, attempts }
      await save(state)
    }
    const answer = await send({ ...state, attempts, ...request }).catch((error: unknown) => {
      if (isRefusal(error, 'HISTORY_DIVERGED') && !request.full) return undefined
      throw error
    })
    signal.throwIfAborted()
    if (!answer) return (await refreshed()) ? ask(request) : undefined
    state = { mirror: answer.mirror, stamp: answer.stamp }
    await save(state)
    return answer
  }

  // The states of one mirror mean nothing to another: none are sent before it is known which one there is.
  let isDiverged = false
  if (create || state.mirror === null)
    isDiverged = (await ask({ ...(create && { create }), changes: [], seen: [] })) === undefined
  const replica = options.replica(state.mirror ?? '')
  let isFull = create || isDiverged
  signal.throwIfAborted()
  if (isFull) await replica.markAllUnseen({ isDiverged })

  /** What has come and is to be confirmed with the next request. */
  let seen: Seen[] = []
  /** The states that were sent and that have come, so that one which stays as it is does not keep the exchange going. */
  const met = new Set<string>()
  for (;;) {
    signal.throwIfAborted()
    const { states, more, refused } = await replica.unseen(MAX_STATES, (one) => refusals.has(nameOf(one)))
    for (const one of refused) refusals.set(nameOf(one), one)
    const answer = await ask({ changes: states, seen, ...(isFull && { full: isFull }) })
    if (!answer) {
      await replica.markAllUnseen({ isDiverged: true })
      isFull = true
      seen = []
      continue
    }
    isFull = false
    const hasSent = await takeVerdicts(replica, states, answer)
    seen = []
    let hasCome = false
    for (const change of answer.changes) {
      signal.throwIfAborted()
      const verdict = await replica.settle(change, report)
      if (typeof verdict !== 'string') {
        refusals.set(nameOf(change), { ...idOf(change), message: verdict.refused, code: verdict.code })
        continue
      }
      if (isNew(met, change)) seen.push(seenOf(change))
      else if (verdict !== 'taken') continue
      hasCome = true
    }
    if (hasSent || hasCome || more || answer.more) continue
    if (!(await replica.settleCollisions(report))) break
  }
  if (create) await replica.forgetOthers()
  return { conflicts, refused: [...refusals.values()] }

  /** Resolves to whether there was anything that may have changed what is to be sent. */
  async function takeVerdicts(replica: Replica, states: MirrorState[], answer: SyncAnswer): Promise<boolean> {
    const confirmed: Seen[] = []
    states.forEach((sent, index) => {
      const verdict = answer.verdicts[index]
      if (verdict === 'taken' || verdict === 'known') confirmed.push(seenOf(sent))
      else if (typeof verdict === 'object')
        refusals.set(nameOf(sent), { ...idOf(sent), message: verdict.refused, code: verdict.code })
    })
    signal.throwIfAborted()
    await replica.confirm(confirmed)
    return states.filter((one) => isNew(met, one, 'sent')).length > 0
  }
}

const nameOf = ({ collection, id }: StateId) => `${collection}/${id}`
const idOf = ({ collection, id }: StateId) => ({ collection, id })

/** Whether a state has not been met in this exchange. */
function isNew(
  met: Set<string>,
  { collection, id, revision, active }: MirrorState,
  way: 'sent' | 'come' = 'come',
): boolean {
  const name = JSON.stringify([way, collection, id, revision, active])
  if (met.has(name)) return false
  met.add(name)
  return true
}

const seenOf = ({ active, ...state }: MirrorState): Seen => ({
  ...idOf(state),
  revision: state.revision,
  ...(active && { activeRevision: active.revision }),
})
