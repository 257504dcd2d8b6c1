import type { StoredRequest } from './request-record.ts'
import type { Dimensions } from './totals.ts'

/** A filter for requests. All fields must match. An empty string matches requests without that value. */
export interface UsageFilter {
  keyId?: string
  groupId?: string
  /** The model name in the request. */
  model?: string
  user?: string
  /** An account's ref. */
  account?: string
  /** The request's target. */
  provider?: string
  targetModel?: string
  connectionId?: string
}

/** A filter for individual requests. */
export interface RequestFilter extends UsageFilter {
  status?: number
  end?: string
  /** The gateway's error code. */
  error?: string
  endpoint?: string
}

/** A time range in epoch ms; `to` is exclusive. */
export interface TimeRange {
  from: number
  to: number
}

/** Returns whether a row of totals matches the filter. */
export function matchesRow(filter: UsageFilter, dimensions: Dimensions): boolean {
  for (const name of FILTER_DIMENSIONS) {
    const filterValue = filter[name]
    if (filterValue !== undefined && filterValue !== dimensions[name]) return false
  }
  return true
}

const FILTER_DIMENSIONS = [
  'keyId',
  'groupId',
  'account',
  'model',
  'user',
  'provider',
  'targetModel',
  'connectionId',
] as const

/** Returns whether a request matches the filter. A request that called several targets matches each of them. */
export function matchesRequest(filter: RequestFilter, request: StoredRequest): boolean {
  for (const name of COMPARED_FIELDS) {
    const filterValue = filter[name]
    if (filterValue !== undefined && filterValue !== (request[name] ?? '')) return false
  }
  if (filter.status !== undefined && filter.status !== request.status) return false
  const { provider, targetModel, connectionId } = filter
  if (provider === undefined && targetModel === undefined && connectionId === undefined) return true
  const calledTargets = request.attempts.length > 0 ? request.attempts : [NO_TARGET]
  return calledTargets.some(
    (target) =>
      (provider === undefined || provider === target.provider) &&
      (targetModel === undefined || targetModel === target.model) &&
      (connectionId === undefined || connectionId === target.connectionId),
  )
}

const COMPARED_FIELDS = ['keyId', 'groupId', 'account', 'model', 'user', 'end', 'error', 'endpoint'] as const
const NO_TARGET = { provider: '', model: '', connectionId: '' }
