import { refusedFields } from '../formats/errors/refused-fields.ts'
import { decodeUtf8Lenient } from '../lib/bytes.ts'
import { tryParseShallow } from '../lib/json.ts'
import { createExpiringMap } from '../lib/maps.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { OptionName, Traits } from '../traits.ts'
import type { Clock } from '../types.ts'
import type { FailedResponse } from './response.ts'

/** An option, or the question for the tokens of a stream. */
export type RefusableOption = OptionName | 'streamUsage'

/**
 * The options that targets have refused as fields that they do not know, so that translated requests leave them out. Each instance learns for
 * itself; a target is asked again after a day.
 */
export interface RefusedOptions {
  /** The traits of the target, without what it has refused. */
  without(target: RouteTarget, traits: Traits): Traits
  /** Notes and returns which of the options that were sent, by their paths in the target's request, the failure refuses. */
  note(
    target: RouteTarget,
    failed: FailedResponse,
    sent: ReadonlyMap<string, RefusableOption>,
  ): readonly RefusableOption[]
  /** Takes back what was noted, since the request was refused without the options, too. */
  forget(target: RouteTarget, names: readonly RefusableOption[]): void
}

const MAX_TARGETS = 1_000
const KEPT_MS = 24 * 60 * 60_000

export function createRefusedOptions(clock: Clock): RefusedOptions {
  const targets = createExpiringMap<Set<RefusableOption>>({ clock, ttlMs: KEPT_MS, max: MAX_TARGETS })

  return {
    without(target, traits) {
      const names = targets.get(keyOf(target))
      if (!names) return traits
      const lacked = [...names].filter((name) => name !== 'streamUsage')
      return {
        ...traits,
        lacks: [...traits.lacks, ...lacked],
        streamUsage: traits.streamUsage && !names.has('streamUsage'),
      }
    },
    note(target, failed, sent) {
      const refused = refusedBy(failed, [...sent.keys()]).flatMap((field) => sent.get(field) ?? [])
      if (refused.length === 0) return refused
      const key = keyOf(target)
      targets.set(key, new Set([...(targets.get(key) ?? []), ...refused]))
      return refused
    },
    forget(target, names) {
      const known = targets.get(keyOf(target))
      for (const name of names) known?.delete(name)
    },
  }
}

const keyOf = ({ connection, model, format }: RouteTarget) => JSON.stringify([connection.id, format, model])

/** Has the provider refused the request for what is in it? */
export const isBadRequest = ({ head }: FailedResponse): boolean => head?.status === 400 || head?.status === 422

/** The fields that a provider's error refuses because it does not know them; not those whose values it refuses. */
export function refusedBy(failed: FailedResponse, fields: readonly string[]): string[] {
  if (!isBadRequest(failed)) return []
  const { failure } = failed
  const text = failure.body ? decodeUtf8Lenient(failure.body) : failure.message // a body that is not JSON is quoted in the message
  const body = tryParseShallow(text) ?? text
  return refusedFields(body, fields)
}
