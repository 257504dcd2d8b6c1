import { readVendorError } from '../formats/read-vendor-error.ts'
import { readSaid } from '../formats/vendor-said.ts'
import { decodeUtf8Lenient } from '../lib/bytes.ts'
import { createExpiringMap } from '../lib/expiring-map.ts'
import { tryParseShallow } from '../lib/json.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { OptionName, Traits } from '../traits.ts'
import type { Clock } from '../types.ts'
import type { FailedAttempt } from './attempt.ts'

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
    attempt: FailedAttempt,
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
    note(target, attempt, sent) {
      const refused = refusedBy(attempt, [...sent.keys()]).flatMap((field) => sent.get(field) ?? [])
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
export const isBadRequest = ({ head }: FailedAttempt): boolean => head?.status === 400 || head?.status === 422

/** The fields that a provider's answer refuses because it does not know them; not those whose values it refuses. */
function refusedBy(attempt: FailedAttempt, fields: readonly string[]): string[] {
  if (!isBadRequest(attempt)) return []
  const { failure } = attempt
  const text = failure.body ? decodeUtf8Lenient(failure.body) : failure.message // which quotes what is no JSON
  const body = tryParseShallow(text) ?? text
  const said = (readVendorError(body).message ?? '').slice(0, MAX_READ)
  if (OF_A_VALUE.test(said)) return []
  const { param } = readSaid(body)
  return fields.filter((field) => {
    const last = field.slice(field.lastIndexOf('.') + 1) // some name a nested field alone
    const isNamed = (param === field || param === last) && UNKNOWN.test(said)
    return isNamed || [field, last].some((name) => saysUnknown(said, name) || saysForbidden(said, name))
  })
}

const MAX_READ = 2_000

const OF_A_VALUE = /\b(?:unsupported|invalid|illegal) values?\b/i

const UNKNOWN =
  /\b(?:unknown|unrecogni[sz]ed|unexpected|unsupported|not (?:supported|permitted|allowed|recogni[sz]ed))\b/i

/** Does a sentence call the field unknown: `unknown field "top_k"`, `top_k is not supported`? Fields that were expected instead follow a comma. */
function saysUnknown(said: string, field: string): boolean {
  const name = `(?<![\\w.-])(?:body\\.)?${escaped(field)}(?![\\w-])`
  return (
    new RegExp(`\\b(?:unknown|unrecogni[sz]ed|unexpected|unsupported)\\b[^.,;]{0,60}?${name}`, 'i').test(said) ||
    new RegExp(
      `${name}[^.,;]{0,40}?\\b(?:not (?:supported|permitted|allowed|recogni[sz]ed)|unknown|unexpected|unsupported)\\b`,
      'i',
    ).test(said)
  )
}

/** Pydantic's list of errors, as older servers print it. */
const saysForbidden = (said: string, field: string): boolean =>
  new RegExp(`'loc': \\('body', '${escaped(field)}'\\), 'msg': 'Extra inputs are not permitted`).test(said)

const escaped = (field: string) => field.replace(/[^\w]/g, '\\$&')
