import { createGateway } from '../../gateway.ts'
import type { UpstreamFetch } from '../../lib/exchange.ts'
import type { Clock, Storage } from '../../types.ts'
import { BROKEN, DEMO, DEMO_FLAKY, demoCatalog, FLAKY, STORYTELLER } from './demo-providers.ts'

const HOUR_MS = 60 * 60 * 1_000
const HISTORY_DAYS = 5
/** The number of requests on an average day, by UTC hour. */
const REQUESTS_BY_HOUR = [1, 0, 0, 0, 0, 1, 1, 2, 4, 5, 6, 5, 3, 4, 6, 5, 4, 3, 2, 2, 1, 2, 1, 1]
const SAMPLE_REQUEST = {
  messages: [{ role: 'user', content: 'Tell me about a signal box and the trains that pass it.' }],
}

/**
 * Writes groups, keys, an alias, and a week of requests to `storage`, so every dashboard page has something to show. The data comes from actual
 * requests to a gateway whose clock starts several days in the past. The same `now` always produces the same requests.
 */
export async function writeHistory({
  storage,
  secret,
  upstream,
  now,
}: {
  storage: Storage
  secret: string | undefined
  upstream: UpstreamFetch
  /** Epoch ms. */
  now: number
}): Promise<void> {
  const random = createRandom(7)
  const clock = new PastClock(now - HISTORY_DAYS * 24 * HOUR_MS)
  const fetch: UpstreamFetch = (input, init) => {
    clock.advance(150 + 900 * random() ** 3)
    return upstream(input, init)
  }
  const gateway = createGateway({
    storage,
    fetch,
    clock,
    catalog: demoCatalog,
    logger: false,
    ...(secret !== undefined && { secret }),
  })
  const { api } = gateway
  const metadata = { demo: 'created by --demo' }
  const product = await api.groups.create({ name: 'demo-product', limits: { usd: { month: 20 } }, metadata })
  const research = await api.groups.create({ name: 'demo-research', limits: { requests: { day: 2_000 } }, metadata })
  const site = await api.keys.create({ name: 'demo-website', group: product.id, metadata })
  const app = await api.keys.create({
    name: 'demo-app',
    group: product.id,
    limits: { usd: { month: 5 }, requests: { minute: 60 } },
    metadata,
  })
  const nightly = await api.keys.create({ name: 'demo-nightly', group: research.id, models: ['demo*'], metadata })
  const trial = await api.keys.create({ name: 'demo-trial', limits: { usd: { total: 0.006 } }, metadata }) // so the page shows a key that is almost out of budget
  const oldKey = await api.keys.create({ name: 'demo-former', metadata })
  await api.keys.update(oldKey.id, { isActive: false })
  await api.aliases.set({ alias: 'demo-quick', model: `${DEMO}/${STORYTELLER}` })

  const clients = [
    { key: site.key, users: ['ada', 'grace', 'alan'], models: [DEMO, DEMO_FLAKY, 'demo-quick'], share: 42 },
    { key: app.key, users: ['edsger', 'barbara'], models: [DEMO_FLAKY, 'demo-quick'], share: 32 },
    { key: nightly.key, users: [], models: [`${DEMO}/${FLAKY}`, DEMO], share: 16 },
    { key: trial.key, users: ['guest'], models: ['demo-quick'], share: 9 },
    { key: oldKey.key, users: [], models: [`${DEMO}/${BROKEN}`], share: 1 },
  ]
  const pickRandom = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)]
  const weightedClients = clients.flatMap((client) => Array.from({ length: client.share }, () => client))

  for (let hour = Math.ceil(clock.now() / HOUR_MS) * HOUR_MS; hour + HOUR_MS / 2 < now; hour += HOUR_MS) {
    const average = REQUESTS_BY_HOUR[new Date(hour).getUTCHours()] ?? 0
    const count = Math.round(average * (0.6 + 0.8 * random()))
    for (let nth = 0; nth < count; nth++) {
      clock.advanceTo(hour + ((nth + random()) / count) * (HOUR_MS / 2))
      const { key = '', users = [], models = [] } = pickRandom(weightedClients) ?? {}
      const user = pickRandom(users)
      const body = { ...SAMPLE_REQUEST, model: pickRandom(models), max_tokens: 50, ...(user !== undefined && { user }) }
      const response = await gateway.fetch(
        new Request('http://demo.invalid/v1/chat/completions', {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      )
      await response.text()
    }
  }
  clock.advanceTo(now)
  await gateway.close()
}

/** A clock that moves only when `advanceTo` is called. Its timeouts never fire. */
class PastClock implements Clock {
  #now: number

  constructor(now: number) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  advance(ms: number): void {
    this.#now += Math.round(ms)
  }

  /** Advances to a time. Never moves back. */
  advanceTo(time: number): void {
    this.#now = Math.max(this.#now, Math.round(time))
  }

  sleep(_ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
  }

  setTimer(): () => void {
    return () => {}
  }
}

/** Creates a pseudorandom number generator for [0, 1). The same seed always produces the same numbers. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
