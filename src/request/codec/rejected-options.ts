import { decodeUtf8Lenient } from '../../lib/bytes.ts'
import { tryParseShallow } from '../../lib/json.ts'
import { createExpiringMap } from '../../lib/maps.ts'
import { findRejectedFields } from '../../protocols/formats/errors/rejected-fields.ts'
import type { OptionName, Traits } from '../../traits.ts'
import type { Clock } from '../../types.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { FailedResponse } from './response.ts'

/** An option that can be dropped, or the field that requests a stream's usage. */
export type DroppableOption = OptionName | 'streamUsage'

/**
 * Remembers the options that targets have rejected as unknown fields, so that translated requests omit them. Each instance learns on its own, and
 * tries an option again after a day.
 */
export interface RejectedOptions {
  /** Returns the target's traits with the rejected options marked as unsupported. */
  removeRejected(target: RouteTarget, traits: Traits): Traits
  /** Remembers and returns the options that the failure rejects. `sentOptions` contains the sent options, by their paths in the target's request. */
  record(
    target: RouteTarget,
    failed: FailedResponse,
    sentOptions: ReadonlyMap<string, DroppableOption>,
  ): readonly DroppableOption[]
  /** Forgets rejected options, because the target also rejected the request without them. */
  forget(target: RouteTarget, names: readonly DroppableOption[]): void
}

const MAX_TARGETS = 1_000
const RETENTION_MS = 24 * 60 * 60_000

export function createRejectedOptions(clock: Clock): RejectedOptions {
  const targets = createExpiringMap<Set<DroppableOption>>({ clock, ttlMs: RETENTION_MS, maxSize: MAX_TARGETS })

  return {
    removeRejected(target, traits) {
      const names = targets.get(getTargetKey(target))
      if (!names) return traits
      const rejectedNames = [...names].filter((name) => name !== 'streamUsage')
      return {
        ...traits,
        lacks: [...traits.lacks, ...rejectedNames],
        streamUsage: traits.streamUsage && !names.has('streamUsage'),
      }
    },
    record(target, failed, sentOptions) {
      const rejectedOptions = findUnknownFields(failed, [...sentOptions.keys()]).flatMap(
        (field) => sentOptions.get(field) ?? [],
      )
      if (rejectedOptions.length === 0) return rejectedOptions
      const key = getTargetKey(target)
      targets.set(key, new Set([...(targets.get(key) ?? []), ...rejectedOptions]))
      return rejectedOptions
    },
    forget(target, names) {
      const existing = targets.get(getTargetKey(target))
      for (const name of names) existing?.delete(name)
    },
  }
}

const getTargetKey = ({ connection, model, format }: RouteTarget) => JSON.stringify([connection.id, format, model])

/** Returns whether the provider rejected the request as invalid. */
export const isBadRequest = ({ head }: FailedResponse): boolean => head?.status === 400 || head?.status === 422

/** Returns the fields that a provider's error rejects as unknown, but not fields with rejected values. */
export function findUnknownFields(failed: FailedResponse, fields: readonly string[]): string[] {
  if (!isBadRequest(failed)) return []
  const { failure } = failed
  const text = failure.body ? decodeUtf8Lenient(failure.body) : failure.message // the message quotes a body that isn't JSON
  const body = tryParseShallow(text) ?? text
  return findRejectedFields(body, fields)
}
