import type { ConnectionRecord } from '../../records/store.ts'

/** The parts of a target that health uses. */
export interface HealthTarget {
  provider: string
  model: string
  connection: Pick<ConnectionRecord, 'id' | 'provider' | 'updatedAt'>
}

/** The level that health is judged at. */
export type SubjectLevel = 'provider' | 'connection' | 'model'

/** The levels, broadest first. */
export const levels: readonly SubjectLevel[] = ['provider', 'connection', 'model']

/** The subject of a record, or of a window of calls. */
export interface Subject {
  level: SubjectLevel
  provider: string
  connectionId?: string
  model?: string
  /** The combo with its own health terms whose requests count. Absent if those of all requests do. */
  combo?: string
  /** The connection's `updatedAt` at the time of the call. */
  updatedAt?: string
}

/** Returns the subject of a target at one level. `combo` is the combo with its own health rules. */
export function getSubject(
  { provider, model, connection }: HealthTarget,
  level: SubjectLevel,
  combo?: string,
): Subject {
  const { id: connectionId, updatedAt } = connection
  const scope = combo === undefined ? undefined : { combo }
  if (level === 'provider') return { level, provider, ...scope }
  if (level === 'connection') return { level, provider, connectionId, updatedAt, ...scope }
  return { level, provider, connectionId, updatedAt, model, ...scope }
}

/** Returns the key of a subject. A changed connection is treated as a different one, because earlier calls reveal nothing about it. */
export function getSubjectKey({ level, provider, connectionId, updatedAt, model, combo }: Subject): string {
  const scope = combo === undefined ? '' : `${combo}:` // IDs and times contain no colon before their first space
  if (level === 'provider') return `${scope}provider ${provider}`
  return level === 'connection'
    ? `${scope}${connectionId} ${updatedAt}`
    : `${scope}${connectionId} ${updatedAt} ${model}`
}
