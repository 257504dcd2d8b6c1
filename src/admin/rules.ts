import { describeCooldowns } from '../lib/shape-texts.ts'
import type { EffectiveRules, RequestRules } from '../types.ts'
import { createInputError } from './input.ts'

type ChangedFields<T> = { [Member in keyof T]?: T[Member] | null }

/** A change to routing rules; omitted fields stay the same, `null` restores the default. */
interface RulesChange {
  health?: ChangedFields<EffectiveRules['health']> | null | undefined
  maxAttempts?: number | null | undefined
  timeouts?: ChangedFields<EffectiveRules['timeouts']> | null | undefined
}

/** Returns the changed rules, or `undefined` if none are left. */
export function changeRules(rules: RequestRules | undefined, change: RulesChange): RequestRules | undefined {
  const changedRules: RequestRules = {}
  const health = mergeFields(rules?.health, change.health)
  const timeouts = mergeFields(rules?.timeouts, change.timeouts)
  const maxAttempts = change.maxAttempts === undefined ? rules?.maxAttempts : change.maxAttempts
  if (health) changedRules.health = health
  if (typeof maxAttempts === 'number') changedRules.maxAttempts = maxAttempts
  if (timeouts) changedRules.timeouts = timeouts
  return Object.keys(changedRules).length > 0 ? changedRules : undefined
}

/** Returns the changed object, or `undefined` if no fields are left. */
export function mergeFields<T extends object>(
  storedFields: Partial<T> | undefined,
  change: ChangedFields<T> | null | undefined,
) {
  if (change === null) return undefined
  const members = Object.entries({ ...storedFields, ...change }).filter(([, value]) => value !== null)
  return members.length > 0 ? (Object.fromEntries(members) as Partial<T>) : undefined // nulls were removed
}

/** Throws `INVALID_REQUEST` if the first cooldown would be longer than the maximum. */
export function validateCooldowns({ cooldownMs, maxCooldownMs }: EffectiveRules['health']): void {
  if (cooldownMs <= maxCooldownMs) return
  throw createInputError(`"health.cooldownMs" ${describeCooldowns(cooldownMs, maxCooldownMs)}`)
}
