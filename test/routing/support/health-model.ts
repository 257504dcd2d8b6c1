import { coolings, type FailureClass, type HealthLevel } from '../../../src/routing/failure-class.ts'
import type { HealthTarget } from '../../../src/routing/health-records.ts'

/** A call that is under way. */
export interface ModelCall {
  target: HealthTarget
  began: number
  /** What it probes. */
  probes: Held[]
}

/** What is held against the provider, its accounts and their models, written as plainly as can be. */
export function createModel() {
  const held = new Map<string, Held>()
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

  const keysOf = ({ model, connection }: HealthTarget) => ({
    provider: 'p',
    connection: `p ${connection.id}@${connection.updatedAt}`,
    model: `p ${connection.id}@${connection.updatedAt} ${model}`,
  })

  /** What is held against a provider ends with the change of an account that had failed there. */
  function mend({ connection: { id, updatedAt } }: HealthTarget) {
    const failedAt = held.get('p')?.accounts.get(id)
    if (failedAt !== undefined && failedAt < updatedAt) held.delete('p')
  }

  function allOf(target: HealthTarget) {
    mend(target)
    return Object.values(keysOf(target)).flatMap((key) => held.get(key) ?? [])
  }

  function forget(record: Held) {
    if (held.get(record.key) === record) held.delete(record.key)
  }

  /** Does its cooldown stand, for all that a call can say which began so early? */
  const isBehind = (record: Held, began: number) => record.until !== undefined && record.cooledIn > began

  function giveBack(call: ModelCall) {
    for (const record of call.probes.splice(0)) record.isProbed = false
  }

  function count(record: Held, { what, after, baseMs, maxMs, asked, now, began }: Counted) {
    record.failures += 1
    const { until } = record
    if (until !== undefined && (until > now || record.isProbed || isBehind(record, began))) {
      if (asked && now + asked > until) cool(record, now + asked, what)
      return
    }
    record.reason = what
    if (until === undefined && record.failures < after && !asked) return
    record.times += 1
    const isBelieved = asked !== undefined && (asked >= baseMs || record.times === 1)
    cool(record, now + (isBelieved ? asked : Math.min(maxMs, baseMs * 2 ** (record.times - 1))), what)
  }

  function cool(record: Held, until: number, what: FailureClass) {
    record.until = until
    record.reason = what
    record.cooledIn = ++order
  }

  return {
    begin(target: HealthTarget, now: number): ModelCall {
      const probes = allOf(target).filter(({ until, isProbed }) => until !== undefined && until <= now && !isProbed)
      for (const record of probes) record.isProbed = true
      return { target, began: ++order, probes }
    },
    drop: giveBack,
    answer(call: ModelCall) {
      giveBack(call)
      for (const record of allOf(call.target)) if (!isBehind(record, call.began)) forget(record)
    },
    /** Its stream has come to its end. */
    close({ target, began }: ModelCall) {
      for (const record of allOf(target)) if (record.isCut && !isBehind(record, began)) forget(record)
    },
    /** Its stream has begun. */
    open(call: ModelCall) {
      giveBack(call)
      for (const record of allOf(call.target)) {
        if (isBehind(record, call.began)) continue
        if (record.isCut) record.until = undefined
        else forget(record)
      }
    },
    /** Its stream has broken off. */
    cut({ target, began }: ModelCall, now: number) {
      const record = heldAgainst(keysOf(target).model)
      record.isCut = true
      count(record, { after: 3, baseMs: 5_000, maxMs: 300_000, what: 'network', asked: undefined, now, began })
    },
    fail(call: ModelCall, what: FailureClass, { asked, level: whose, now }: Failed) {
      const { target, began } = call
      const probes = [...call.probes]
      giveBack(call)
      const cooling = coolings[what]
      if (!cooling) {
        for (const record of probes) {
          if (isBehind(record, began)) continue
          const isOfModel = record.key.split(' ').length === 3
          if (isOfModel && record.reason !== 'model-not-found') record.until = undefined
          else forget(record)
        }
        return
      }
      const level = whose ?? cooling.level
      count(heldAgainst(keysOf(target)[level]), { ...cooling, what, asked, now, began })
      if (what === 'network' && level === 'model') {
        const account = heldAgainst(keysOf(target).connection)
        account.models.add(target.model)
        const after = account.models.size > 1 ? 3 : Number.POSITIVE_INFINITY
        count(account, { after, baseMs: 5_000, maxMs: 300_000, what, asked: undefined, now, began })
      }
      if (what !== 'server' && what !== 'network' && what !== 'timeout') return
      mend(target)
      const provider = heldAgainst('p')
      provider.accounts.set(target.connection.id, target.connection.updatedAt)
      provider.models.add(level === 'connection' ? 'all' : target.model)
      const isOfMany = provider.models.size > 1 || provider.models.has('all')
      const after = provider.accounts.size > 1 && isOfMany ? 5 : Number.POSITIVE_INFINITY
      count(provider, { after, baseMs: 5_000, maxMs: 60_000, what, asked: undefined, now, began })
    },
    isUsable: (target: HealthTarget, now: number) =>
      allOf(target).every(({ until, isProbed }) => until === undefined || (until <= now && !isProbed)),
  }
}

interface Failed {
  asked?: number | undefined
  level?: HealthLevel | undefined
  now: number
}

interface Held {
  key: string
  failures: number
  times: number
  /** Left alone until then. */
  until?: number | undefined
  /** When that was last set, in the order of everything. */
  cooledIn: number
  reason?: FailureClass
  isProbed: boolean
  /** Streams have broken off. */
  isCut?: boolean
  /** Those of the provider that failed, and when they had been changed. */
  accounts: Map<string, string>
  models: Set<string>
}

interface Counted {
  what: FailureClass
  after: number
  baseMs: number
  maxMs: number
  asked: number | undefined
  now: number
  began: number
}
