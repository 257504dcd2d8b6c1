import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createLedger } from '../../../src/features/limits/ledger/ledger.ts'
import { createGateway, type Gateway } from '../../../src/gateway.ts'
import type { Clock, Storage } from '../../../src/types.ts'
import { type Call, fakeUpstream } from '../../pipeline/support/upstream.ts'
import { fakeClock } from '../../support/clock.ts'
import type { History } from './history.ts'
import { catalog } from './world.ts'

/** Two gateways on one storage, the second of which can crash, and providers with random behavior. */
export class Instances {
  readonly fake = fakeClock()
  /** The offset of the machine's clock, in ms. */
  skew = 0
  /** Time that passed without waking any sleeper, in ms. */
  passed = 0
  readonly clock: Clock = {
    now: () => this.fake.now() + this.passed + this.skew,
    sleep: (ms, signal) => this.fake.sleep(ms, signal),
  }
  readonly storage = memoryStorage({ clock: this.fake })
  readonly errors: unknown[] = []
  readonly #histories = new Map<string, History>() // by key ID
  readonly #byTitle = new Map<string, History>()
  readonly ledger = createLedger({
    storage: this.storage,
    clock: this.clock,
    random: () => 0.5,
    startTimer: () => () => {},
    nextTurn: () => Promise.resolve(),
    onError: (error) => void this.errors.push(error),
  })
  readonly first: Gateway
  second: { gateway: Gateway; crash(): void } | undefined = undefined
  readonly #up = fakeUpstream((call) => this.#answer(call))

  constructor() {
    this.first = this.#open(this.storage)
  }

  async prepare(): Promise<void> {
    for (const provider of Object.keys(catalog))
      await this.first.api.connections.create({ provider, apiKey: `of-${provider}` })
    await this.first.api.combos.create({ name: 'chain', models: ['one/m', 'two/m', 'claude/c'] })
    await this.first.api.combos.create({ name: 'hedged', models: ['one/m', 'two/m', 'cheap/m'], hedge: true })
  }

  /** Returns the second gateway, which is replaced after each crash. */
  get other(): Gateway {
    if (this.second) return this.second.gateway
    let isCrashed = false
    const truncate =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> =>
        isCrashed ? new Promise(() => {}) : call(...args)
    const { storage } = this
    const gateway = this.#open({
      ...storage,
      get: truncate(storage.get),
      set: truncate(storage.set),
      delete: truncate(storage.delete),
    })
    const crash = () => {
      isCrashed = true
      this.second = undefined
    }
    this.second = { gateway, crash }
    return gateway
  }

  add(history: History): void {
    this.#histories.set(history.keyId, history)
  }

  send(title: string, history: History): void {
    this.#byTitle.set(title, history)
  }

  #open(storage: Storage): Gateway {
    return createGateway({
      storage,
      clock: this.clock,
      fetch: this.#up,
      catalog,
      logger: false,
      hooks: {
        onRequest: (record) => void this.#histories.get(record.keyId ?? '')?.records.push(record),
        onError: (error) => void this.errors.push(error),
      },
    })
  }

  #answer(call: Call): Response | Promise<Response> {
    const title = call.headers.get('x-title') ?? ''
    const history = this.#byTitle.get(title)
    if (!history) throw new Error(`a call of no request: ${title}`)
    return history.respond(call, title)
  }
}
