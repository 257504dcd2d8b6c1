import { type FailureClass, failureRules, type HealthLevel } from '../../../src/request/routing/failure-class.ts'
import type { HealthTarget } from '../../../src/request/routing/health-subject.ts'
import { defaultHealthTerms } from '../../../src/request/routing/request-rules.ts'

/** An in-flight call. */
export interface ModelCall {
  target: HealthTarget
  began: number
  /** The records that this call probes. */
  probes: Held[]
  /** Whether the call is a stream that already counts as successful. */
  isCounted?: boolean
}

/** A call's result: its time, and whether the call failed. A stream that counted as successful and then broke off has two results. */
interface Result {
  at: number
  failed: boolean
  isRecount: boolean
}

type Key = 'provider' | 'connection' | 'model'

const { failureShare, minCalls } = defaultHealthTerms
const backOff = { baseMs: 5_000, maxMs: 300_000 }

/** Creates a deliberately simple model of provider, account, and model health. */
export function createModel() {
  const held = new Map<string, Held>()
  const ended = new Map<string, Result[]>()
  let order = 0

  function heldAgainst(key: string): Held {
    const record = held.get(key) ?? {
      key,
      failures: 0,
      times: 0,
      cooledIn: 0,
      accounts: new Map(),
      models: new Set(),
      isProbed: false,
    }
    held.set(key, record)
    return record
  }

  const getKeys = ({ model, connection }: HealthTarget) => ({
    provider: 'p',
    connection: `p ${connection.id}@${connection.updatedAt}`,
    model: `p ${connection.id}@${connection.updatedAt} ${model}`,
  })

  /** Removes the provider's record if one of the accounts that failed has been changed. */
  function repair({ connection: { id, updatedAt } }: HealthTarget) {
    const failedAt = held.get('p')?.accounts.get(id)
    if (failedAt !== undefined && failedAt < updatedAt) held.delete('p')
  }

  function allOf(target: HealthTarget) {
    repair(target)
    return Object.values(getKeys(target)).flatMap((key) => held.get(key) ?? [])
  }

  /** Removes a record. If it had a cooldown, also removes the calls at its level and the levels below. */
  function forget(record: Held, target: HealthTarget) {
    if (held.get(record.key) === record) held.delete(record.key)
    if (record.until === undefined) return
    const keys = Object.values(getKeys(target))
    for (const key of keys.slice(keys.indexOf(record.key))) ended.delete(key)
  }

  function note(key: string, call: Result) {
    ended.set(key, [...(ended.get(key) ?? []), call])
  }

  /** Records a call that succeeded, or that failed at one or more of the three levels. */
  function getNote(target: HealthTarget, now: number, failedAt: { [Level in Key]?: boolean } = {}) {
    const keys = getKeys(target)
    for (const level of ['provider', 'connection', 'model'] as const)
      note(keys[level], { at: now, failed: failedAt[level] ?? false, isRecount: false })
  }

  /** Returns the calls in the last minute, in six-second steps. */
  function recent(key: string, now: number) {
    const getStep = (index: number) => Math.floor(index / 6_000)
    const all = ended.get(key) ?? []
    const counted = all.filter(({ at }) => getStep(at) > getStep(now) - 10)
    const failures = counted.filter(({ failed }) => failed).length
    const calls = counted.filter(({ isRecount }) => !isRecount).length
    const inARow = all.length - 1 - all.findLastIndex(({ failed }) => !failed)
    return { calls, failures, isOut: Math.min(inARow, failures) >= 10 }
  }

  function isFailing(key: string, now: number) {
    const { calls, failures, isOut } = recent(key, now)
    return calls >= minCalls && (failures >= failureShare * calls || isOut)
  }

  /** Returns whether a call started too early to end the cooldown. */
  const isBehind = (record: Held, began: number) => record.until !== undefined && record.cooledIn > began

  function giveBack(call: ModelCall) {
    for (const record of call.probes.splice(0)) record.isProbed = false
  }

  function count(record: Held, { what, isEnough, baseMs, maxMs, requested, now, began }: CountInput) {
    record.failures += 1
    const { until } = record
    if (until !== undefined && (until > now || record.isProbed || isBehind(record, began))) {
      if (requested && now + requested > until) startCooldown(record, now + requested, what)
      return
    }
    record.reason = what
    if (until === undefined && !isEnough && !requested) return
    record.times += 1
    const isBelieved = requested !== undefined && (requested >= baseMs || record.times === 1)
    startCooldown(record, now + (isBelieved ? requested : Math.min(maxMs, baseMs * 2 ** (record.times - 1))), what)
  }

  function startCooldown(record: Held, until: number, label: FailureClass) {
    record.until = until
    record.reason = label
    record.cooledIn = ++order
  }

  return {
    begin(target: HealthTarget, now: number): ModelCall {
      const probes = allOf(target).filter(({ until, isProbed }) => until !== undefined && until <= now && !isProbed)
      for (const record of probes) record.isProbed = true
      return { target, began: ++order, probes }
    },
    drop: giveBack,
    respond(call: ModelCall, now: number) {
      const { target, began } = call
      giveBack(call)
      getNote(target, now)
      for (const record of allOf(target)) if (!isBehind(record, began)) forget(record, target)
    },
    /** Ends a call whose stream has finished. */
    close({ target, began, isCounted }: ModelCall, now: number) {
      if (!isCounted) getNote(target, now)
      for (const record of allOf(target)) if (record.isCut && !isBehind(record, began)) forget(record, target)
    },
    /** Records that a call's stream has started. */
    open(call: ModelCall, now: number) {
      const { target, began } = call
      giveBack(call)
      const older = allOf(target).filter((record) => !isBehind(record, began))
      call.isCounted = !older.some(({ isCut }) => isCut)
      if (call.isCounted) getNote(target, now)
      for (const record of older) {
        if (record.isCut) record.until = undefined
        else forget(record, target)
      }
    },
    /** Records that a call's stream has broken off. */
    cut({ target, began, isCounted }: ModelCall, now: number) {
      const key = getKeys(target).model
      note(key, { at: now, failed: true, isRecount: isCounted === true })
      const record = heldAgainst(key)
      record.isCut = true
      count(record, { ...backOff, isEnough: isFailing(key, now), what: 'network', requested: undefined, now, began })
    },
    fail(call: ModelCall, label: FailureClass, { requested, level: whose, now }: Failed) {
      const { target, began } = call
      const probes = [...call.probes]
      giveBack(call)
      const cooling = failureRules[label].cooldown
      if (!cooling) {
        for (const record of probes) {
          if (isBehind(record, began)) continue
          const isOfModel = record.key.split(' ').length === 3
          if (isOfModel && record.reason !== 'model-not-found') record.until = undefined
          else forget(record, target)
        }
        return
      }
      const level = whose ?? cooling.level
      const keys = getKeys(target)
      const isWide = label === 'server' || label === 'network' || label === 'timeout'
      if (label !== 'model-not-found')
        getNote(target, now, {
          model: true,
          connection: label === 'network' || level === 'connection',
          provider: isWide,
        })
      const { baseMs = backOff.baseMs, maxMs = backOff.maxMs } = cooling
      const isEnough = cooling.starts === 'at-once' || whose !== undefined || isFailing(keys[level], now)
      count(heldAgainst(keys[level]), { baseMs, maxMs, isEnough, what: label, requested, now, began })
      if (label === 'network' && level === 'model') {
        const account = heldAgainst(keys.connection)
        account.models.add(target.model)
        const isEnough = account.models.size > 1 && recent(keys.connection, now).isOut
        count(account, { ...backOff, isEnough, what: label, requested: undefined, now, began })
      }
      if (!isWide) return
      repair(target)
      const provider = heldAgainst('p')
      provider.accounts.set(target.connection.id, target.connection.updatedAt)
      provider.models.add(level === 'connection' ? 'all' : target.model)
      const isOfMany = provider.models.size > 1 || provider.models.has('all')
      const isEnoughForAll = provider.accounts.size > 1 && isOfMany && recent('p', now).isOut
      const times = { ...backOff, maxMs: 60_000 }
      count(provider, { ...times, isEnough: isEnoughForAll, what: label, requested: undefined, now, began })
    },
    isUsable: (target: HealthTarget, now: number) =>
      allOf(target).every(({ until, isProbed }) => until === undefined || (until <= now && !isProbed)),
  }
}

interface Failed {
  requested?: number | undefined
  level?: HealthLevel | undefined
  now: number
}

interface Held {
  key: string
  failures: number
  times: number
  /** When the cooldown ends. */
  until?: number | undefined
  /** When `until` was last set, in the order of all events. */
  cooledIn: number
  reason?: FailureClass
  isProbed: boolean
  /** Whether streams have broken off. */
  isCut?: boolean
  /** The accounts that failed, and when each was last changed. */
  accounts: Map<string, string>
  models: Set<string>
}

interface CountInput {
  what: FailureClass
  isEnough: boolean
  baseMs: number
  maxMs: number
  requested: number | undefined
  now: number
  began: number
}
