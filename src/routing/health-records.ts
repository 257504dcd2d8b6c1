import type { ConnectionRecord } from '../store/store.ts'
import type { FailureClass } from './failure-class.ts'
import type { ProbeCall } from './probe-call.ts'

/** The parts of a target that health uses. */
export interface HealthTarget {
  provider: string
  model: string
  connection: Pick<ConnectionRecord, 'id' | 'provider' | 'updatedAt'>
}

/** The recent failures of a provider, a connection, or a model on a connection. */
export interface HealthRecord {
  level: 'provider' | 'connection' | 'model'
  provider: string
  connectionId?: string
  model?: string
  /** The connection's `updatedAt` at the time of the failure. */
  updatedAt?: string
  /** The connections whose failures count against the provider, by id, with their `updatedAt` at that time. */
  connections: Map<string, string>
  /** The models of those failures, but for failures that no model answered. */
  models: Set<string>
  reason: FailureClass
  message: string
  /** Consecutive failures. */
  failures: number
  /** Consecutive cooldowns. */
  times: number
  /** Epoch ms. */
  since: number
  /** Absent while failures are only counted. */
  retryAt?: number
  /** When its cooldown began or was extended: a number in the order of all calls and cooldowns. */
  cooledIn: number
  /** Did streams break off? Then the beginning of another stream is no sign of recovery. */
  isCut?: boolean
  /** Is a probe under way? */
  probing: boolean
  /** A call that is under way although the target is unhealthy: a probe, or a last resort. */
  probeCall?: ProbeCall
}

/** The health records, in memory; at most 1,000. */
export interface HealthRecords {
  isEmpty(): boolean
  /** The records that apply to a target: at most one for each level. */
  of(target: HealthTarget): HealthRecord[]
  /** The record of one level, created if there is none. */
  at(target: HealthTarget, level: HealthRecord['level']): HealthRecord
  forget(record: HealthRecord): void
  /** Ends the probe of a target, at every level. */
  release(target: HealthTarget): void
  /** The records of connections that have not changed since. */
  current(connections: readonly HealthTarget['connection'][]): HealthRecord[]
  reset(connectionId?: string): void
}

/** Clients choose model names, so the number is limited; the least useful record is dropped first. */
const MAX_RECORDS = 1_000

/** Makes an empty set of records. */
export function createHealthRecords(): HealthRecords {
  const records = new Map<string, HealthRecord>()

  /** Another instance may have changed the connection, and told nobody but the storage. */
  function read(target: HealthTarget, level: HealthRecord['level']): HealthRecord | undefined {
    const key = keyOf(subjectOf(target, level))
    const record = records.get(key)
    if (!record || !isMended(record, target.connection)) return record
    records.delete(key)
    return undefined
  }

  function make(target: HealthTarget, level: HealthRecord['level']): HealthRecord {
    const subject = subjectOf(target, level)
    const record: HealthRecord = {
      ...subject,
      connections: new Map(),
      models: new Set(),
      reason: 'server',
      message: '',
      failures: 0,
      times: 0,
      since: 0,
      cooledIn: 0,
      probing: false,
    }
    if (records.size >= MAX_RECORDS) forgetOne()
    records.set(keyOf(subject), record)
    return record
  }

  /** Drops the oldest record of a model that may not exist or is not cooling; otherwise of any model; otherwise of all. */
  function forgetOne() {
    const kept = [...records]
    const [key] = kept.find(isTrifle) ?? kept.find(isOfModel) ?? kept[0] ?? []
    if (key !== undefined) records.delete(key)
  }

  const of = (target: HealthTarget) => levels.flatMap((level) => read(target, level) ?? [])

  return {
    isEmpty: () => records.size === 0,
    of,
    at: (target, level) => read(target, level) ?? make(target, level),
    forget(record) {
      const key = keyOf(record)
      if (records.get(key) === record) records.delete(key)
    },
    release(target) {
      for (const record of of(target)) {
        record.probing = false
        delete record.probeCall
      }
    },
    current(connections) {
      const standing = new Map(connections.map(({ id, updatedAt }) => [id, updatedAt]))
      const providers = new Set(connections.map(({ provider }) => provider))
      return [...records.values()].filter((record) => {
        const { level, provider, connectionId = '', updatedAt } = record
        return level === 'provider'
          ? providers.has(provider) && !connections.some((connection) => isMended(record, connection))
          : standing.get(connectionId) === updatedAt
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

/** Has a connection been changed since it failed for a provider? */
const isMended = ({ connections }: HealthRecord, { id, updatedAt }: HealthTarget['connection']) =>
  (connections.get(id) ?? updatedAt) < updatedAt

type Kept = [key: string, record: HealthRecord]

const isOfModel = ([, { level }]: Kept) => level === 'model'

const isTrifle = ([, { level, reason, retryAt }]: Kept) =>
  level === 'model' && (reason === 'model-not-found' || retryAt === undefined)

const levels = ['provider', 'connection', 'model'] as const

/** The subject of a record. */
type Subject = Pick<HealthRecord, 'level' | 'provider' | 'connectionId' | 'updatedAt' | 'model'>

function subjectOf({ provider, model, connection }: HealthTarget, level: HealthRecord['level']): Subject {
  if (level === 'provider') return { level, provider }
  const { id: connectionId, updatedAt } = connection
  return level === 'connection'
    ? { level, provider, connectionId, updatedAt }
    : { level, provider, connectionId, updatedAt, model }
}

/** A connection that has changed counts as another one: calls from before say nothing about it. */
function keyOf({ level, provider, connectionId, updatedAt, model }: Subject): string {
  if (level === 'provider') return `provider ${provider}`
  return level === 'connection' ? `${connectionId} ${updatedAt}` : `${connectionId} ${updatedAt} ${model}`
}
