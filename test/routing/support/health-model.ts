import { coolings, type FailureClass } from '../../../src/routing/failure-class.ts'
import type { HealthTarget } from '../../../src/routing/health-records.ts'

/** What is held against the provider, its accounts and their models, written as plainly as can be. */
export function createModel() {
  const held = new Map<string, Held>()

  function recordOf(key: string): Held {
    const record = held.get(key) ?? { failures: 0, times: 0, until: 0, accounts: new Set() }
    held.set(key, record)
    return record
  }

  const keysOf = ({ model, connection }: HealthTarget) => ({
    provider: 'p',
    connection: `p ${connection.id}`,
    model: `p ${connection.id} ${model}`,
  })

  function count(record: Held, { after, baseMs, maxMs, asked, now }: Counted) {
    record.failures += 1
    const cools = record.until > now
    const opens = record.until > 0 || record.failures >= after || asked !== undefined
    if (cools ? asked === undefined : !opens) return
    if (!cools) record.times += 1
    record.until = now + (asked ?? Math.min(maxMs, baseMs * 2 ** (record.times - 1)))
  }

  return {
    answer: (target: HealthTarget) => {
      for (const key of Object.values(keysOf(target))) held.delete(key)
    },
    change(account: string) {
      for (const key of held.keys()) if (key.startsWith(`p ${account}`)) held.delete(key)
    },
    isUsable: (target: HealthTarget, now: number) =>
      Object.values(keysOf(target)).every((key) => (held.get(key)?.until ?? 0) <= now),
    fail(target: HealthTarget, what: FailureClass, asked: number | undefined, now: number) {
      const cooling = coolings[what]
      if (!cooling) return this.answer(target)
      count(recordOf(keysOf(target)[cooling.level]), { ...cooling, asked, now })
      if (what !== 'server' && what !== 'network' && what !== 'timeout') return
      const provider = recordOf('p')
      provider.accounts.add(target.connection.id)
      const after = provider.accounts.size > 1 ? 5 : Number.POSITIVE_INFINITY
      count(provider, { after, baseMs: 5_000, maxMs: 60_000, asked: undefined, now })
    },
  }
}

interface Held {
  failures: number
  times: number
  /** Left alone until then; 0 when it never was. */
  until: number
  accounts: Set<string>
}

interface Counted {
  after: number
  baseMs: number
  maxMs: number
  asked: number | undefined
  now: number
}
