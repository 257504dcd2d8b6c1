import type { ConnectionRecord } from '../store/store.ts'
import type { CallWindows, Counted } from './call-windows.ts'
import type { FailureClass } from './failure-class.ts'
import type { HealthRecord, HealthRecords, HealthTarget } from './health-records.ts'

/** The health of a provider, a connection, or a model on a connection that has failed lately (`GET /api/health`). */
export interface HealthEntry {
  level: 'provider' | 'connection' | 'model'
  provider: string
  connectionId?: string
  model?: string
  /** The combo whose own health terms it holds for; absent: for all other requests. */
  combo?: string
  /**
   * `counting`: has failed, and is still used; `cooling`: not used until `retryAt`; `half-open`: the next request is a probe; `probing`: a
   * probe is under way.
   */
  state: 'counting' | 'cooling' | 'half-open' | 'probing'
  /** The class of the last failure. */
  reason: FailureClass
  /** The provider's message of the last failure, or what happened. */
  message: string
  /** Consecutive failures. */
  failures: number
  /** When it first failed; ISO 8601. */
  since: string
  /** When the cooldown ends; ISO 8601. Absent while `counting`. */
  retryAt?: string
}

/** The state of a gateway's health, from which entries are made. */
export interface HealthFacts {
  windows: CallWindows
  records: HealthRecords
  /** Epoch ms. */
  now(): number
}

/** The health entries of these connections. */
export function healthEntries(connections: readonly HealthTarget['connection'][], facts: HealthFacts): HealthEntry[] {
  const now = facts.now()
  return facts.records.currentRecords(connections).map((record) => healthEntry(record, now))
}

function healthEntry(record: HealthRecord, now: number): HealthEntry {
  const { level, provider, connectionId, model, combo, reason, message, failures, since, retryAt } = record
  return {
    level,
    provider,
    ...(connectionId !== undefined && { connectionId }),
    ...(model !== undefined && { model }),
    ...(combo !== undefined && { combo }),
    state: stateOf(record, now),
    reason,
    message,
    failures,
    since: new Date(since).toISOString(),
    ...(retryAt !== undefined && { retryAt: new Date(retryAt).toISOString() }),
  }
}

/** The health of a target: a model on an active connection, or a connection of which no model was called yet (`GET /api/health`). */
export interface TargetState {
  provider: string
  connectionId: string
  model?: string
  /** The combo whose own health terms it is judged by; absent: for all other requests. */
  combo?: string
  /**
   * `draining`: takes no new requests; `cooling`: tried after all others, until `until`; `probing`: its cooldown is over, and one request
   * finds out whether it is back; `ok`: none of these.
   */
  state: 'ok' | 'cooling' | 'probing' | 'draining'
  /** The calls that count, and the share of them that failed; absent where there are none. */
  calls: number
  failureShare?: number
  /** Only for a target that cools or is probed: the level that cools, the reason, and when the cooldown ends or ended; ISO 8601. */
  level?: HealthRecord['level']
  reason?: FailureClass
  message?: string
  until?: string
}

/** The health of the targets of active connections. */
export function targetStates(
  connections: readonly ConnectionRecord[],
  { windows, records, now: clock }: HealthFacts,
): TargetState[] {
  const now = clock()
  const called = windows.list()
  return connections
    .filter(({ isActive }) => isActive !== false)
    .flatMap((connection) => {
      const { id, provider, updatedAt } = connection
      const isOfConnection = ({ level, target }: Counted) =>
        level === 'model' && target.connection.id === id && target.connection.updatedAt === updatedAt
      const ofModels = [
        ...called.filter(isOfConnection),
        ...failedAlone(records.currentRecords([connection]), { called, connection }),
      ]
      const all = ofModels.length > 0 ? ofModels : [{ target: { provider, model: '', connection }, combo: undefined }]
      return all.map(({ target, combo }) => targetState({ target, level: 'model', combo }, connection))
    })

  function targetState(subject: Counted, { draining }: ConnectionRecord): TargetState {
    const { target, combo } = subject
    const { calls, failures } = windows.countsOf(subject)
    const held = records.recordsOf(target, combo).filter(({ retryAt }) => retryAt !== undefined)
    const worst = held.sort((one, other) => Number(other.retryAt) - Number(one.retryAt))[0]
    const state = worst && (stateOf(worst, now) === 'cooling' ? 'cooling' : 'probing')
    return {
      provider: target.provider,
      connectionId: target.connection.id,
      ...(target.model !== '' && { model: target.model }),
      ...(combo !== undefined && { combo }),
      state: draining ? 'draining' : (state ?? 'ok'),
      calls,
      ...(calls > 0 && { failureShare: Math.min(1, failures / calls) }),
      ...(worst?.retryAt !== undefined && {
        level: worst.level,
        reason: worst.reason,
        message: worst.message,
        until: new Date(worst.retryAt).toISOString(),
      }),
    }
  }
}

/** Models without counted calls whose failures are still recorded. */
const failedAlone = (
  records: readonly HealthRecord[],
  { called, connection }: { called: readonly Counted[]; connection: ConnectionRecord },
) =>
  records.flatMap(({ level, provider, model, combo }) => {
    const isCalled = called.some(
      (one) =>
        one.level === 'model' &&
        one.target.model === model &&
        one.target.connection.id === connection.id &&
        one.target.connection.updatedAt === connection.updatedAt &&
        one.combo === combo,
    )
    return level !== 'model' || model === undefined || isCalled
      ? []
      : [{ target: { provider, model, connection }, combo }]
  })

function stateOf({ retryAt, probing }: HealthRecord, now: number): HealthEntry['state'] {
  if (retryAt === undefined) return 'counting'
  if (probing) return 'probing'
  return retryAt <= now ? 'half-open' : 'cooling'
}
