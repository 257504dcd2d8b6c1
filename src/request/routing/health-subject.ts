import type { ConnectionRecord } from '../../records/store.ts'

/** The parts of a target that affect health. */
export interface HealthTarget {
  provider: string
  model: string
  connection: Pick<ConnectionRecord, 'id' | 'provider' | 'updatedAt'>
}

/** The level at which health is judged. */
export type SubjectLevel = 'provider' | 'connection' | 'model'

/** The levels, broadest first. */
export const levels: readonly SubjectLevel[] = ['provider', 'connection', 'model']

/** The subject of a record or of a call window. */
export interface Subject {
  level: SubjectLevel
  provider: string
  connectionId?: string
  model?: string
  /** The combo whose own health rules apply: only its requests count. Absent if all requests count. */
  combo?: string
  /** The connection's `updatedAt` at the time of the call. */
  updatedAt?: string
}

/** Returns a target's subject at one level. `combo` is the combo whose own health rules apply, if any. */
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

/** Returns a subject's key. A changed connection is treated as a different one, because earlier calls reveal nothing about it. */
export function getSubjectKey({ level, provider, connectionId, updatedAt, model, combo }: Subject): string {
  const scope = combo === undefined ? '' : `${combo}:` // IDs and times contain no colon before their first space
  if (level === 'provider') return `${scope}provider ${provider}`
  return level === 'connection'
    ? `${scope}${connectionId} ${updatedAt}`
    : `${scope}${connectionId} ${updatedAt} ${model}`
}
