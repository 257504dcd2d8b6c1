import { isObject } from '../lib/json.ts'
import type { RequestRules } from '../types.ts'

/** The rules in a stored record; members that no release would write are left out. `undefined` when there are none. */
export function storedRules(record: Readonly<{ [Member in keyof RequestRules]?: unknown }>): RequestRules | undefined {
  const rules: RequestRules = {}
  const health = numbersIn(record.health, HEALTH)
  const timeouts = numbersIn(record.timeouts, TIMEOUTS)
  if (health) rules.health = health
  if (isAmount(record.maxAttempts)) rules.maxAttempts = record.maxAttempts
  if (timeouts) rules.timeouts = timeouts
  return Object.keys(rules).length > 0 ? rules : undefined
}

const HEALTH = ['failureShare', 'windowMs', 'minCalls', 'cooldownMs', 'maxCooldownMs'] as const
const TIMEOUTS = ['headersMs', 'idleMs', 'totalMs'] as const

function numbersIn<const Name extends string>(value: unknown, names: readonly Name[]) {
  if (!isObject(value)) return undefined
  const found: { [Member in Name]?: number } = {}
  for (const name of names) {
    const amount: unknown = value[name]
    if (isAmount(amount)) found[name] = amount
  }
  return Object.keys(found).length > 0 ? found : undefined
}

const isAmount = (value: unknown): value is number => typeof value === 'number' && value > 0
