import type { KeptRequest } from './record.ts'
import type { Dimensions } from './totals.ts'

/** A filter for requests: those that have all of these values. The empty text selects requests without a value. */
export interface UsageFilter {
  keyId?: string
  groupId?: string
  /** The name that clients asked for. */
  model?: string
  user?: string
  /** The target of the request. */
  provider?: string
  targetModel?: string
  connectionId?: string
}

/** A filter for single requests. */
export interface RequestFilter extends UsageFilter {
  status?: number
  end?: string
  /** The code of the gateway's error. */
  error?: string
  endpoint?: string
}

/** Times in epoch ms: from `from` on, before `to`. */
export interface TimeRange {
  from: number
  to: number
}

/** Does a row of sums match the filter? */
export function fitsRow(filter: UsageFilter, of: Dimensions): boolean {
  for (const name of DIMENSIONS) {
    const wanted = filter[name]
    if (wanted !== undefined && wanted !== of[name]) return false
  }
  return true
}

const DIMENSIONS = ['keyId', 'groupId', 'model', 'user', 'provider', 'targetModel', 'connectionId'] as const

/** Does the request match the filter? A request that called several targets belongs to each of them. */
export function fitsRequest(filter: RequestFilter, request: KeptRequest): boolean {
  for (const name of PLAIN) {
    const wanted = filter[name]
    if (wanted !== undefined && wanted !== (request[name] ?? '')) return false
  }
  if (filter.status !== undefined && filter.status !== request.status) return false
  const { provider, targetModel, connectionId } = filter
  if (provider === undefined && targetModel === undefined && connectionId === undefined) return true
  const called = request.attempts.length > 0 ? request.attempts : [NOBODY]
  return called.some(
    (one) =>
      (provider === undefined || provider === one.provider) &&
      (targetModel === undefined || targetModel === one.model) &&
      (connectionId === undefined || connectionId === one.connectionId),
  )
}

const PLAIN = ['keyId', 'groupId', 'model', 'user', 'end', 'error', 'endpoint'] as const
const NOBODY = { provider: '', model: '', connectionId: '' }
