import * as v from 'valibot'
import type { EffectiveRules, RequestRules } from '../types.ts'
import { closed, invalidInput, noList } from './input.ts'

const SHARE = 'must be a number above 0 and up to 1'
const HOUR = 3_600_000

function whole(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message))
}

const share = v.pipe(v.number(SHARE), v.gtValue(0, SHARE), v.maxValue(1, SHARE))
const windowMs = whole(1_000, HOUR)
const minCalls = whole(1, 10_000)
const maxAttempts = whole(1, 100)
const ms = whole(1, 24 * HOUR)

const health = closed({
  failureShare: v.exactOptional(share),
  windowMs: v.exactOptional(windowMs),
  minCalls: v.exactOptional(minCalls),
  cooldownMs: v.exactOptional(ms),
  maxCooldownMs: v.exactOptional(ms),
})
const healthChange = closed({
  failureShare: v.exactOptional(v.nullable(share)),
  windowMs: v.exactOptional(v.nullable(windowMs)),
  minCalls: v.exactOptional(v.nullable(minCalls)),
  cooldownMs: v.exactOptional(v.nullable(ms)),
  maxCooldownMs: v.exactOptional(v.nullable(ms)),
})
const timeouts = closed({
  headersMs: v.exactOptional(ms),
  idleMs: v.exactOptional(ms),
  totalMs: v.exactOptional(ms),
})
const timeoutsChange = closed({
  headersMs: v.exactOptional(v.nullable(ms)),
  idleMs: v.exactOptional(v.nullable(ms)),
  totalMs: v.exactOptional(v.nullable(ms)),
})

/** The rules of a combo, each set as a whole. */
export const comboRules = {
  health: v.pipe(
    noList(),
    health,
    v.check(
      ({ cooldownMs = 0, maxCooldownMs = cooldownMs }) => cooldownMs <= maxCooldownMs,
      'must not have a "cooldownMs" above its "maxCooldownMs"',
    ),
  ),
  maxAttempts,
  timeouts: v.pipe(noList(), timeouts),
}

/** Changes of the rules in the settings, member by member; `null` restores the default of a member, or of all of them. */
export const rulesChange = {
  health: v.exactOptional(v.nullable(v.pipe(noList(), healthChange))),
  maxAttempts: v.exactOptional(v.nullable(maxAttempts)),
  timeouts: v.exactOptional(v.nullable(v.pipe(noList(), timeoutsChange))),
}

/** What belongs in each of the rules, by its name. */
export const innerRules = { health: Object.keys(health.entries), timeouts: Object.keys(timeouts.entries) }

type Members<T> = { [Member in keyof T]?: T[Member] | null }

/** A change of rules: absent members stay, `null` restores the default. */
export interface RulesChange {
  health?: Members<EffectiveRules['health']> | null
  maxAttempts?: number | null
  timeouts?: Members<EffectiveRules['timeouts']> | null
}

/** The rules after a change; `undefined` when none are left. */
export function changedRules(rules: RequestRules | undefined, change: RulesChange): RequestRules | undefined {
  const next: RequestRules = {}
  const health = merged(rules?.health, change.health)
  const timeouts = merged(rules?.timeouts, change.timeouts)
  const maxAttempts = change.maxAttempts === undefined ? rules?.maxAttempts : change.maxAttempts
  if (health) next.health = health
  if (typeof maxAttempts === 'number') next.maxAttempts = maxAttempts
  if (timeouts) next.timeouts = timeouts
  return Object.keys(next).length > 0 ? next : undefined
}

function merged<T extends object>(stored: Partial<T> | undefined, change: Members<T> | null | undefined) {
  if (change === null) return undefined
  const members = Object.entries({ ...stored, ...change }).filter(([, value]) => value !== null)
  return members.length > 0 ? (Object.fromEntries(members) as Partial<T>) : undefined // the nulls are gone
}

/** Throws `INVALID_REQUEST` when the first cooldown would be longer than the longest. */
export function checkCooldowns({ cooldownMs, maxCooldownMs }: EffectiveRules['health']): void {
  if (cooldownMs <= maxCooldownMs) return
  throw invalidInput(`"health.cooldownMs" must not be above "health.maxCooldownMs": ${cooldownMs}, ${maxCooldownMs}`)
}
