import type { FailureClass } from './failure-class.ts'
import { getSubject, getSubjectKey, type HealthTarget, levels, type Subject } from './health-subject.ts'

/** A call to an unhealthy target. Other requests wait for its outcome. */
export interface Probe {
  /** Epoch ms. */
  startedAt: number
  result: Promise<ProbeResult>
}

/** A probe's outcome. `dropped` predicts nothing about the next call, because the client disconnected or the failure may be a coincidence. */
export type ProbeResult = 'answered' | 'failed' | 'dropped'

interface ProbedTarget {
  /** The records of the cooldowns that apply to the target. */
  coolingRecords: readonly HealthRecord[]
  /** The records in `coolingRecords` that this call probes. */
  probedRecords: readonly HealthRecord[]
  now: number
}

/** Adds an in-flight call to its target's records. Returns the function that ends the probe, so that others can probe. */
export function startProbe({ coolingRecords, probedRecords, now }: ProbedTarget): (result: ProbeResult) => void {
  let resolveResult: (ending: ProbeResult) => void = () => {}
  const resultPromise = new Promise<ProbeResult>((resolve) => {
    resolveResult = resolve
  })
  const probeCall: Probe = { startedAt: now, result: resultPromise }
  for (const record of coolingRecords) record.probeCall ??= probeCall
  for (const record of probedRecords) {
    record.isProbing = true
    record.probeCall = probeCall
  }
  return (result) => {
    for (const record of coolingRecords) {
      if (record.probeCall !== probeCall) continue // another call has replaced this one
      record.isProbing = false
      delete record.probeCall
    }
    resolveResult(result)
  }
}

/** The recent failures of a provider, a connection, or a model on a connection. */
export interface HealthRecord extends Subject {
  /** The connections whose failures count against the provider, by ID, with their `updatedAt` at that time. */
  connections: Map<string, string>
  /** The models with those failures, not including failures of entire connections. */
  models: Set<string>
  /** The client keys with requests that got a 403 without a reason. */
  rejectedClients: Set<string>
  reason: FailureClass
  message: string
  /** Consecutive failures. */
  failures: number
  /** Consecutive cooldowns. */
  cooldownCount: number
  /** The time of the first failure, in epoch ms. */
  since: number
  /** When the cooldown ends, in epoch ms. Absent while failures are only counted. */
  retryAt?: number
  /** Whether the provider requested the wait until `retryAt`. */
  isRequestedWait?: boolean
  /** Whether every other call would certainly fail as well. If `false` or absent, several requests' failures have added up. */
  isCertain?: boolean
  /** When the cooldown began or was last extended, as a number in the order of all calls and cooldowns. */
  cooldownNumber: number
  /** Whether streams have been cut off. If so, the beginning of another stream isn't a sign of recovery. */
  hasCutStreams?: boolean
  /** Whether a probe is in flight. */
  isProbing: boolean
  /** A call in flight although the target is unhealthy: a probe, or a last resort. */
  probeCall?: Probe
}

/** The health records, in memory; at most 1,000. */
export interface HealthRecords {
  isEmpty(): boolean
  /**
   * Finds the records that apply to a target: at most one per level for all requests, and one for `combo`. A combo with its own terms ignores
   * uncertain records for all requests.
   */
  findRecords(target: HealthTarget, combo?: string): HealthRecord[]
  /** Returns the record for one level. Creates it if there is none. */
  getRecord(target: HealthTarget, level: HealthRecord['level'], combo?: string): HealthRecord
  forget(record: HealthRecord): void
  /** Ends a target's probe, at every level. */
  endProbe(target: HealthTarget, combo?: string): void
  /** Returns the records of connections that haven't changed since their failures. */
  listCurrentRecords(connections: readonly HealthTarget['connection'][]): HealthRecord[]
  reset(connectionId?: string): void
}

/** Maximum number of records, because clients choose model names. The least useful record is evicted first. */
const MAX_RECORDS = 1_000

export function createHealthRecords(): HealthRecords {
  const records = new Map<string, HealthRecord>()

  /** Returns the record, unless its connection has changed since, perhaps through another instance. */
  function findRecord(target: HealthTarget, level: HealthRecord['level'], combo?: string): HealthRecord | undefined {
    const key = getSubjectKey(getSubject(target, level, combo))
    const record = records.get(key)
    if (!record || !isRepaired(record, target.connection)) return record
    records.delete(key)
    return undefined
  }

  function createRecord(target: HealthTarget, level: HealthRecord['level'], combo?: string): HealthRecord {
    const subject = getSubject(target, level, combo)
    const record: HealthRecord = {
      ...subject,
      connections: new Map(),
      models: new Set(),
      rejectedClients: new Set(),
      reason: 'server',
      message: '',
      failures: 0,
      cooldownCount: 0,
      since: 0,
      cooldownNumber: 0,
      isProbing: false,
    }
    if (records.size >= MAX_RECORDS) evictRecord()
    records.set(getSubjectKey(subject), record)
    return record
  }

  /** Evicts one record: the oldest of a model that may not exist or isn't in cooldown, or else the oldest of a model, or else the oldest of all. */
  function evictRecord() {
    const entries = [...records]
    const [key] = entries.find(isExpendable) ?? entries.find(isModelRecord) ?? entries[0] ?? []
    if (key !== undefined) records.delete(key)
  }

  const findRecords = (target: HealthTarget, combo?: string) => {
    const sharedRecords = levels.flatMap((level) => findRecord(target, level) ?? [])
    if (combo === undefined) return sharedRecords
    const certainRecords = sharedRecords.filter(
      ({ isCertain, rejectedClients }) => isCertain || rejectedClients.size > 0,
    )
    return [...certainRecords, ...levels.flatMap((level) => findRecord(target, level, combo) ?? [])]
  }

  return {
    isEmpty: () => records.size === 0,
    findRecords,
    getRecord: (target, level, combo) => findRecord(target, level, combo) ?? createRecord(target, level, combo),
    forget(record) {
      const key = getSubjectKey(record)
      if (records.get(key) === record) records.delete(key)
    },
    endProbe(target, combo) {
      for (const record of findRecords(target, combo)) {
        record.isProbing = false
        delete record.probeCall
      }
    },
    listCurrentRecords(connections) {
      const updatedAtById = new Map(connections.map(({ id, updatedAt }) => [id, updatedAt]))
      const providers = new Set(connections.map(({ provider }) => provider))
      return [...records.values()].filter((record) => {
        const { level, provider, connectionId = '', updatedAt } = record
        return level === 'provider'
          ? providers.has(provider) && !connections.some((connection) => isRepaired(record, connection))
          : updatedAtById.get(connectionId) === updatedAt
      })
    },
    reset(connectionId) {
      if (connectionId === undefined) return records.clear()
      for (const [key, record] of records) {
        if (record.connectionId === connectionId || record.connections.has(connectionId)) records.delete(key)
      }
    },
  }
}

/** Returns whether the connection has changed since its failure counted against the provider. */
const isRepaired = ({ connections }: HealthRecord, { id, updatedAt }: HealthTarget['connection']) =>
  (connections.get(id) ?? updatedAt) < updatedAt

type RecordEntry = [key: string, record: HealthRecord]

const isModelRecord = ([, { level }]: RecordEntry) => level === 'model'

const isExpendable = ([, { level, reason, retryAt }]: RecordEntry) =>
  level === 'model' && (reason === 'model-not-found' || retryAt === undefined)
