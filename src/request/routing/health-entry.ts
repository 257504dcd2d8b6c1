import type { ConnectionRecord } from '../../records/store.ts'
import type { Integer, IsoTime } from '../../types/plain-types.ts'
import type { CallSubject, CallWindows } from './call-windows.ts'
import type { FailureClass } from './failure-class.ts'
import type { HealthRecord, HealthRecords } from './health-records.ts'
import type { HealthTarget } from './health-subject.ts'

/** The health of a provider, a connection, or a model on a connection that failed recently (`GET /api/health`). */
export interface HealthEntry {
  level: 'provider' | 'connection' | 'model'
  provider: string
  connectionId?: string
  model?: string
  /** The combo whose own health rules apply. Absent for all other requests. */
  combo?: string
  /**
   * `counting`: failed, but still in use. `cooling`: in cooldown until `retryAt`. `half-open`: the next request is a probe. `probing`: a probe is in
   * flight.
   */
  state: 'counting' | 'cooling' | 'half-open' | 'probing'
  /** The last failure's class. */
  reason: FailureClass
  /** The provider's message for the last failure, or a description. */
  message: string
  /** Consecutive failures. */
  failures: Integer
  /** Time of the first failure, in ISO 8601. */
  since: IsoTime
  /** End of the cooldown, in ISO 8601. Absent while `counting`. */
  retryAt?: IsoTime
}

/** The health data that entries are built from. */
export interface HealthFacts {
  windows: CallWindows
  /** `undefined` if no call has failed. */
  records: HealthRecords | undefined
  /** Epoch ms. */
  now(): number
}

/** Lists the health entries of these connections. */
export function listHealthEntries(
  connections: readonly HealthTarget['connection'][],
  facts: HealthFacts,
): HealthEntry[] {
  const now = facts.now()
  return facts.records?.listCurrentRecords(connections).map((record) => toHealthEntry(record, now)) ?? []
}

function toHealthEntry(record: HealthRecord, now: number): HealthEntry {
  const { level, provider, connectionId, model, combo, reason, message, failures, since, retryAt } = record
  return {
    level,
    provider,
    ...(connectionId !== undefined && { connectionId }),
    ...(model !== undefined && { model }),
    ...(combo !== undefined && { combo }),
    state: getState(record, now),
    reason,
    message,
    failures,
    since: new Date(since).toISOString(),
    ...(retryAt !== undefined && { retryAt: new Date(retryAt).toISOString() }),
  }
}

/** The health of a target: a model on an active connection, or a connection without calls to any of its models (`GET /api/health`). */
export interface TargetState {
  provider: string
  connectionId: string
  model?: string
  /** The combo whose own health rules apply. Absent for all other requests. */
  combo?: string
  /**
   * `draining`: takes no new requests. `cooling`: tried after all others until `until`. `probing`: the cooldown is over, and one request checks
   * whether the target has recovered. `ok`: none of these.
   */
  state: 'ok' | 'cooling' | 'probing' | 'draining'
  /** Recent calls that count, and the share of them that failed. The share is absent if there are no such calls. */
  calls: Integer
  failureShare?: number
  /** Only during a cooldown or probe: the affected level, the reason, and the end of the cooldown in ISO 8601. */
  level?: HealthRecord['level']
  reason?: FailureClass
  message?: string
  until?: IsoTime
}

/** Lists the health of active connections' targets. */
export function listTargetStates(
  connections: readonly ConnectionRecord[],
  { windows, records, now: clock }: HealthFacts,
): TargetState[] {
  const now = clock()
  const calledSubjects = windows.listSubjects()
  return connections
    .filter(({ isActive }) => isActive !== false)
    .flatMap((connection) => {
      const { id, provider, updatedAt } = connection
      const isCurrent = ({ level, target }: CallSubject) =>
        level === 'model' && target.connection.id === id && target.connection.updatedAt === updatedAt
      const models = [
        ...calledSubjects.filter(isCurrent),
        ...listUncountedModels(records?.listCurrentRecords([connection]) ?? [], { called: calledSubjects, connection }),
      ]
      const subjects = models.length > 0 ? models : [{ target: { provider, model: '', connection }, combo: undefined }]
      return subjects.map(({ target, combo }) => toTargetState({ target, level: 'model', combo }, connection))
    })

  function toTargetState(subject: CallSubject, { draining }: ConnectionRecord): TargetState {
    const { target, combo } = subject
    const { calls, failures } = windows.getCounts(subject)
    const coolingRecords = records?.findRecords(target, combo).filter(({ retryAt }) => retryAt !== undefined)
    const worstRecord = coolingRecords?.sort((a, b) => Number(b.retryAt) - Number(a.retryAt))[0]
    const state = worstRecord && (getState(worstRecord, now) === 'cooling' ? 'cooling' : 'probing')
    return {
      provider: target.provider,
      connectionId: target.connection.id,
      ...(target.model !== '' && { model: target.model }),
      ...(combo !== undefined && { combo }),
      state: draining ? 'draining' : (state ?? 'ok'),
      calls,
      ...(calls > 0 && { failureShare: Math.min(1, failures / calls) }),
      ...(worstRecord?.retryAt !== undefined && {
        level: worstRecord.level,
        reason: worstRecord.reason,
        message: worstRecord.message,
        until: new Date(worstRecord.retryAt).toISOString(),
      }),
    }
  }
}

/** Lists models without counted calls whose failures are still recorded. */
const listUncountedModels = (
  records: readonly HealthRecord[],
  { called: calledSubjects, connection }: { called: readonly CallSubject[]; connection: ConnectionRecord },
) =>
  records.flatMap(({ level, provider, model, combo }) => {
    const hasCalls = calledSubjects.some(
      (subject) =>
        subject.level === 'model' &&
        subject.target.model === model &&
        subject.target.connection.id === connection.id &&
        subject.target.connection.updatedAt === connection.updatedAt &&
        subject.combo === combo,
    )
    return level !== 'model' || model === undefined || hasCalls
      ? []
      : [{ target: { provider, model, connection }, combo }]
  })

function getState({ retryAt, isProbing }: HealthRecord, now: number): HealthEntry['state'] {
  if (retryAt === undefined) return 'counting'
  if (isProbing) return 'probing'
  return retryAt <= now ? 'half-open' : 'cooling'
}
