import type { ConnectionRecord } from '../store/store.ts'
import type { FailureClass } from './failure-class.ts'
import type { ProbeCall } from './probe-call.ts'

/** What health reads of a target. */
export interface HealthTarget {
  provider: string
  model: string
  connection: Pick<ConnectionRecord, 'id' | 'provider' | 'updatedAt'>
}

/** What is held against a provider, a connection, or a model on a connection. */
export interface HealthRecord {
  level: 'provider' | 'connection' | 'model'
  provider: string
  connectionId?: string
  model?: string
  /** Of the connection, when it failed. */
  updatedAt?: string
  /** The connections whose failures count against the provider. */
  connections: Set<string>
  /** The models of those failures, but for failures that no model answered. */
  models: Set<string>
  reason: FailureClass
  message: string
  /** In a row. */
  failures: number
  /** How often it was left alone without a success in between. */
  times: number
  /** Epoch ms. */
  since: number
  /** Absent while failures are only counted. */
  retryAt?: number
  /** When its cooldown began or grew, in the order of all calls and cooldowns. */
  cooledIn: number
  /** Streams that had begun broke off, of which the beginning of another one says nothing. */
  isCut?: boolean
  /** One call finds out whether it is back. */
  probing: boolean
  /** A call that is under way though it is not well: the probe, or one for want of another target. */
  probeCall?: ProbeCall
}

/** All that is held against targets: 1000 records at most, in memory. */
export interface HealthRecords {
  isEmpty(): boolean
  /** The records that concern a target: at most three. */
  of(target: HealthTarget): HealthRecord[]
  /** The record of one level, made when there is none. */
  at(target: HealthTarget, level: HealthRecord['level']): HealthRecord
  forget(record: HealthRecord): void
  /** Nobody inquires after the target any more. */
  release(target: HealthTarget): void
  /** All records of connections that still stand as they did. */
  current(connections: readonly HealthTarget['connection'][]): HealthRecord[]
  reset(connectionId?: string): void
}

/** Clients choose model names, so there is a limit; what is missed least goes first. */
const MAX_RECORDS = 1_000

/** Records of nothing yet. */
export function createHealthRecords(): HealthRecords {
  const records = new Map<string, HealthRecord>()

  const read = (target: HealthTarget, level: HealthRecord['level']) => records.get(keyOf(subjectOf(target, level)))

  function make(target: HealthTarget, level: HealthRecord['level']): HealthRecord {
    const subject = subjectOf(target, level)
    const record: HealthRecord = {
      ...subject,
      connections: new Set(),
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

  /** The oldest of a model that may not even exist or is used all the same; else of a model; else of all. */
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
      return [...records.values()].filter(({ level, provider, connectionId = '', updatedAt }) =>
        level === 'provider' ? providers.has(provider) : standing.get(connectionId) === updatedAt,
      )
    },
    reset(connectionId) {
      if (connectionId === undefined) return records.clear()
      for (const [key, record] of records) {
        if (record.connectionId === connectionId || record.connections.has(connectionId)) records.delete(key)
      }
    },
  }
}

type Kept = [key: string, record: HealthRecord]

const isOfModel = ([, { level }]: Kept) => level === 'model'

const isTrifle = ([, { level, reason, retryAt }]: Kept) =>
  level === 'model' && (reason === 'model-not-found' || retryAt === undefined)

const levels = ['provider', 'connection', 'model'] as const

/** Whom a record is about. */
type Subject = Pick<HealthRecord, 'level' | 'provider' | 'connectionId' | 'updatedAt' | 'model'>

function subjectOf({ provider, model, connection }: HealthTarget, level: HealthRecord['level']): Subject {
  if (level === 'provider') return { level, provider }
  const { id: connectionId, updatedAt } = connection
  return level === 'connection'
    ? { level, provider, connectionId, updatedAt }
    : { level, provider, connectionId, updatedAt, model }
}

/** A changed connection is another one: calls that began before the change say nothing of it. */
function keyOf({ level, provider, connectionId, updatedAt, model }: Subject): string {
  if (level === 'provider') return `provider ${provider}`
  return level === 'connection' ? `${connectionId} ${updatedAt}` : `${connectionId} ${updatedAt} ${model}`
}
