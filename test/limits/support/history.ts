import fc from 'fast-check'
import type { LimitedScope, LimitRejection } from '../../../src/features/limits/ledger/ledger.ts'
import { assertNever } from '../../../src/lib/assert-never.ts'
import type { UsageLimits } from '../../../src/types/limits.ts'
import { createRandom } from '../../support/random.ts'
import { assert } from '../../support/suite.ts'
import { type Full, getMinute, getName, type HeldByModel, Model, toFull, UNITS } from './model.ts'
import { type Instance, World } from './world.ts'

interface RequestSpec {
  by: number
  key: number
  amounts: Full
  output: number | undefined
  /** A bit mask of accounts. */
  scopes: number
}

/** The next step; `pick` selects one of the open reservations. */
type Step =
  | { do: 'requests'; requests: RequestSpec[]; crash: number | undefined }
  | { do: 'settle'; picks: number[]; share: number; isPart: boolean }
  | { do: 'extend'; pick: number; amounts: Full }
  | { do: 'overrun'; pick: number; by: number }
  | { do: 'pass'; ms: number }
  | { do: 'jump'; by: number; ms: number }
  | { do: 'pause'; by: number }
  | { do: 'reset'; account: number }
  | { do: 'settle lost'; account: number; as: 'spent' | 'unspent' }
  | { do: 'limits'; account: number; to: UsageLimits }

export interface History {
  seed: number
  /** The share of storage calls that fail. */
  faults: number
  limits: UsageLimits[]
  steps: Step[]
}

const ACCOUNTS = [
  { scope: 'key', id: 'one' },
  { scope: 'key', id: 'two' },
  { scope: 'group', id: 'team' },
  { scope: 'gateway', id: '' },
] as const
const INSTANCES = 3
/** The price of one output token, in US dollars. */
const PRICE = 0.001
/** The minimum number of output tokens. */
const LEAST = 4

const index = fc.nat({ max: 11 })
const amounts = fc.record({
  requests: fc.constantFrom(0, 1),
  parallel: fc.constantFrom(0, 1),
  tokens: fc.nat(12),
  usd: fc.nat(12),
})
const someLimit = (most: number) => fc.option(fc.integer({ min: 1, max: most }), { nil: undefined })
const dollars = (most: number) => someLimit(most).map((value) => (value === undefined ? undefined : value / 1_000))
const plain = (value: UsageLimits): UsageLimits => JSON.parse(JSON.stringify(value))

const limits: fc.Arbitrary<UsageLimits> = fc
  .record({
    requests: fc.record({ minute: fc.constant(1_000_000), hour: someLimit(9), total: someLimit(30) }),
    tokens: fc.record({ minute: someLimit(30), day: someLimit(60), week: someLimit(90) }),
    usd: fc.record({ hour: dollars(40), month: dollars(90), total: dollars(120) }),
    parallel: someLimit(5),
  })
  .map((value) => plain(value as UsageLimits)) // drops fields that are `undefined`

const requests = fc.record({
  do: fc.constant('requests' as const),
  requests: fc.array(
    fc.record({
      by: index,
      key: fc.nat(1),
      amounts,
      output: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
      scopes: fc.nat(7),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  crash: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: index }),
})
const settle = fc.record({
  do: fc.constant('settle' as const),
  picks: fc.array(fc.nat(30), { minLength: 1, maxLength: 4 }),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  isPart: fc.boolean(),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: requests },
  { weight: 7, arbitrary: settle },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('extend' as const), pick: fc.nat(30), amounts }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('overrun' as const), pick: fc.nat(30), by: fc.nat(30) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(10, 7_000, 59_000, 61_000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('jump' as const),
      by: index,
      ms: fc.constantFrom(
        -90_000,
        20_000,
        600_000,
        -3_700_000,
        3_700_000,
        86_400_000,
        -86_400_000,
        7 * 86_400_000,
        31 * 86_400_000,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pause' as const), by: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const), account: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('settle lost' as const),
      account: fc.nat(3),
      as: fc.constantFrom('spent' as const, 'unspent' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limits' as const), account: fc.nat(3), to: limits }) },
)

export const histories: fc.Arbitrary<History> = fc.record({
  seed: fc.nat(),
  faults: fc.constantFrom(0, 0, 0.1, 0.3),
  limits: fc.array(limits, { minLength: ACCOUNTS.length, maxLength: ACCOUNTS.length }),
  steps: fc.array(step, { minLength: 1, maxLength: 25 }),
})

/** Runs a history and checks the counters after every step. */
export const live = (history: History): Promise<void> => new Run(history).all()

class Run {
  readonly #history: History
  readonly #world: World
  readonly #model = new Model()
  readonly #instances: Instance[]
  readonly #scopes: LimitedScope[]
  /** Whether an instance that paused or whose clock jumped may be considered lost. If so, more than `parallel` requests may be in flight. */
  #isParallelLoose = false
  /** Accounts that may include reservations granted to an instance that crashed before it received them. */
  readonly #more = new Set<string>()
  /** Accounts whose counters were reset while an instance was paused. They lack that instance's reservations until it resumes. */
  readonly #less = new Set<string>()

  constructor(history: History) {
    this.#history = history
    this.#world = new World(createRandom(history.seed))
    this.#instances = Array.from({ length: INSTANCES }, () => this.#world.start())
    this.#scopes = ACCOUNTS.map((account, index) => ({ ...account, limits: history.limits[index] ?? {} }))
  }

  async all(): Promise<void> {
    for (const step of this.#history.steps) {
      await this.#step(step)
      await this.#check()
    }
    for (const instance of this.#instances) if (instance.isFrozen) await this.#goOn(instance)
    for (const held of this.#model.held) this.#settle(held, { share: 1 })
    await this.#check()
    for (const { reserved, unsettled, account, unit } of this.#model.limits(this.#scopes, new Map()))
      assert.is(reserved + (this.#hasCrashes ? 0 : unsettled), 0, `${unit} of ${account} are still reserved`)
    for (const { ledger } of this.#instances) await ledger.close()
  }

  #hasCrashes = false
  /** Whether the storage reported an error for a write that may have happened. Until it is reconciled, it may block other requests. */
  #wasAway = false

  async #step(step: Step): Promise<void> {
    switch (step.do) {
      case 'requests':
        return this.#requests(step)
      case 'settle':
        this.#world.faults = this.#history.faults
        for (const pick of step.picks) this.#settle(this.#pick(pick), step)
        return this.#world.pass(100)
      case 'overrun':
        return this.#settle(this.#pick(step.pick), { share: 1, more: step.by })
      case 'extend': {
        const held = this.#pick(step.pick)
        return held && this.#extend(held, step.amounts)
      }
      case 'pass':
        return this.#world.pass(step.ms)
      case 'jump':
        this.#isParallelLoose = true
        this.#instance(step.by).offset += step.ms
        return
      case 'pause': {
        this.#isParallelLoose = true
        const instance = this.#instance(step.by)
        if (instance.isFrozen) return this.#goOn(instance)
        instance.isFrozen = true
        return
      }
      case 'reset': {
        const scope = this.#scope(step.account)
        await this.#watch(scope)
        await this.#anyone().ledger.reset(scope)
        this.#model.reset(getName(scope))
        this.#more.delete(getName(scope))
        if (this.#isPaused()) this.#less.add(getName(scope))
        return
      }
      case 'settle lost': {
        const scope = this.#scope(step.account)
        await this.#watch(scope)
        await this.#anyone().ledger.settleLost(scope, step.as)
        this.#model.settleLost(getName(scope), step.as)
        if (step.as === 'unspent') this.#more.delete(getName(scope))
        if (step.as === 'unspent' && this.#isPaused()) this.#less.add(getName(scope))
        return
      }
      case 'limits':
        this.#scopes[step.account] = { ...this.#scope(step.account), limits: step.to }
        return
      default:
        assertNever(step)
    }
  }

  /** Sends concurrent requests on any instances, one of which may crash. Nothing is released, so a rejected request must not fit afterward. */
  async #requests({ requests, crash }: Extract<Step, { do: 'requests' }>): Promise<void> {
    this.#world.faults = this.#history.faults
    this.#wasAway = false
    const rejected: Array<() => Promise<void>> = []
    const failed: unknown[] = []
    const crashing = crash === undefined ? undefined : this.#instance(crash)
    const work = requests.map(async (request) => {
      const instance = this.#instance(request.by)
      if (instance.isFrozen) return
      const scopes = [this.#scope(request.key), this.#scope(2), this.#scope(3)].filter(
        (_, index) => request.scopes & (1 << index),
      )
      if (instance === crashing) for (const scope of scopes) this.#more.add(getName(scope))
      const check = await this.#request(instance, scopes, request).catch((error: unknown) => void failed.push(error))
      if (check) rejected.push(check)
    })
    if (crash !== undefined) {
      for (let hops = this.#history.seed % 40; hops > 0; hops--) await undefined
      this.#crash(crash)
    }
    await this.#world.pass(5_000) // lets requests that wait for other requests finish
    await this.#world.recover()
    await Promise.all(work.filter((_, i) => this.#instance(requests[i]?.by ?? 0) !== this.#instance(crash ?? -1)))
    if (failed.length > 0) throw failed[0]
    if (!this.#wasAway) for (const check of rejected) await check()
  }

  /** Sends a request. If it is rejected, resolves to a function that checks the rejection. */
  async #request(instance: Instance, scopes: LimitedScope[], { amounts, output }: RequestSpec) {
    const fixed = { ...amounts, usd: amounts.usd / 1_000 }
    const wanted = { tokens: output ?? 0, minTokens: Math.min(output ?? 0, LEAST), usdPerToken: PRICE }
    const outcome = await instance.ledger
      .reserve(scopes, output === undefined ? { fixed } : { fixed, output: wanted })
      .catch(() => undefined)
    if (!outcome) {
      this.#wasAway = true
      return undefined
    }
    if (instance.hasCrashed) return undefined // it crashed before it received the result
    const tokens = outcome.kind === 'rejected' ? wanted.minTokens : (outcome.outputTokens ?? 0)
    const full = toFull({ ...fixed, tokens: fixed.tokens + tokens, usd: fixed.usd + tokens * PRICE })
    if (outcome.kind === 'rejected') return () => this.#checkRefused(instance, scopes, full, outcome)
    const { minutes } = this.#model.granted(instance, scopes, outcome, full)
    this.#checkAllowed(scopes, minutes, full)
    return undefined
  }

  /** Checks that no limit is exceeded. */
  #checkAllowed(scopes: readonly LimitedScope[], minutes: ReadonlyMap<string, number>, added: Full): void {
    for (const { account, unit, window, most, ...totals } of this.#model.limits(scopes, minutes, { exactly: true })) {
      if (added[unit] === 0 || this.#less.has(account) || (unit === 'parallel' && this.#isParallelLoose)) continue
      const sum = totals.used + totals.reserved + totals.unsettled
      assert.ok(sum <= most, `${sum} ${unit} of ${account} per ${window}, but only ${most} are allowed`)
    }
  }

  /** Checks that no request that fits was rejected. Skips the check if the rejection's window has ended in the meantime. */
  async #checkRefused(instance: Instance, scopes: LimitedScope[], amounts: Full, refusal: LimitRejection) {
    const isSure = scopes.every((scope) => !this.#more.has(getName(scope)))
    if (instance.hasCrashed || !isSure || (refusal.limit.unit === 'parallel' && this.#isParallelLoose)) return
    const states = (await Promise.all(scopes.map((scope) => instance.ledger.getStates(scope)))).flat()
    const { scope, unit, window, resetsAt } = refusal.limit
    const now = states.find((state) => state.scope === scope && state.unit === unit && state.window === window)
    if (now?.resetsAt !== resetsAt) return
    const minutes = new Map(scopes.map((scope) => [getName(scope), getMinute(states, scope)]))
    const isTight = [...this.#model.limits(scopes, minutes)].some(
      ({ unit, most, used, reserved, unsettled }) =>
        amounts[unit] > 0 && used + reserved + unsettled + amounts[unit] > most,
    )
    if (!isTight && unit === 'parallel' && this.#hasCrashes) return // an instance that may be lost still has reservations
    assert.ok(isTight, `rejected although it fits: ${JSON.stringify({ amounts, refusal })}`)
  }

  async #extend(held: HeldByModel, amounts: Full): Promise<void> {
    this.#world.faults = this.#history.faults
    const by = { tokens: amounts.tokens, usd: amounts.usd / 1_000 }
    const promise = held.reservation.extend(by).then(
      (refusal) => refusal ?? 'extended',
      () => 'away',
    )
    await this.#world.pass(5_000)
    await this.#world.recover()
    if ((await promise) !== 'extended') return
    const added = toFull({ tokens: held.open.has('tokens') ? by.tokens : 0, usd: held.open.has('usd') ? by.usd : 0 })
    for (const unit of UNITS) held.reserved[unit] += added[unit]
    const states = (await Promise.all(held.scopes.map((scope) => held.instance.ledger.getStates(scope)))).flat()
    const minutes = new Map(held.scopes.map((scope) => [getName(scope), getMinute(states, scope)]))
    const isCurrent = held.scopes.every((scope) => minutes.get(getName(scope)) === held.minutes.get(getName(scope)))
    const limits = held.scopes.map((scope) => this.#scopes.find((item) => getName(item) === getName(scope)) ?? scope)
    if (isCurrent && limits.every((scope) => held.scopes.includes(scope)))
      this.#checkAllowed(held.scopes, minutes, added)
  }

  /** Settles all or part of a reservation, with a share of its amounts or with additional tokens. */
  #settle(
    held: HeldByModel | undefined,
    { share, isPart = false, more = 0 }: { share: number; isPart?: boolean; more?: number },
  ): void {
    if (!held || held.isLost) return
    const units = isPart ? (['tokens', 'usd'] as const) : UNITS
    for (const unit of units) {
      if (!held.open.delete(unit)) continue
      const grain = unit === 'usd' ? 1_000_000 : 1 // in nano-dollars, although the ledger takes dollars
      if (unit === 'parallel') continue
      held.spent[unit] = Math.floor((held.reserved[unit] * share) / grain) * grain
      if (unit === 'tokens') held.spent.tokens += more
    }
    const { requests, tokens, usd } = held.spent
    held.reservation.settle({ requests, tokens, usd: usd / 1e9 }, isPart ? units : undefined)
  }

  #crash(by: number): void {
    const instance = this.#instance(by)
    this.#hasCrashes = true
    this.#world.crash(instance)
    for (const held of this.#model.held) if (held.instance === instance && held.open.size > 0) held.isLost = true
    this.#instances[this.#instances.indexOf(instance)] = this.#world.start()
  }

  async #goOn(instance: Instance): Promise<void> {
    instance.isFrozen = false
    await this.#world.pass(16_000) // shows that the instance is alive
    await this.#world.recover()
    if (!this.#isPaused()) this.#less.clear()
  }

  /** Watches an account for long enough to detect all lost instances. */
  async #watch(scope: LimitedScope): Promise<void> {
    await this.#world.recover()
    await this.#anyone().ledger.getStates(scope)
    await this.#world.pass(61_000)
  }

  /** Checks that every instance's counters equal the model's. */
  async #check(): Promise<void> {
    await this.#world.recover()
    for (const { ledger } of this.#instances)
      for (const scope of this.#scopes) {
        const account = getName(scope)
        if (this.#less.has(account)) continue
        const states = await ledger.getStates(scope)
        const expected = [...this.#model.limits([scope], new Map([[account, getMinute(states, scope)]]))]
        assert.is(states.length, expected.length)
        states.forEach((state, index) => {
          const totals = expected[index]
          if (!totals || totals.unit === 'parallel') return
          const { unit } = totals
          const grain = unit === 'usd' ? 1e9 : 1
          const shown = Math.round((state.used + state.reserved + state.unsettled) * grain)
          const counted = totals.used + totals.reserved + totals.unsettled
          const isRight = this.#more.has(account) ? shown >= counted : shown === counted
          assert.ok(isRight, `${shown} ${unit} of ${account} per ${state.window} instead of ${counted}`)
        })
      }
  }

  #pick(index: number): HeldByModel | undefined {
    const open = this.#model.held.filter((held) => held.open.size > 0 && !held.isLost && !held.instance.isFrozen)
    return open[index % Math.max(1, open.length)]
  }

  #isPaused = () => this.#instances.some(({ isFrozen }) => isFrozen)
  #instance = (index: number): Instance => this.#instances[index % INSTANCES] as Instance // the index is in range
  #scope = (index: number): LimitedScope => this.#scopes[index] as LimitedScope // one slot per account
  #anyone = () => this.#instances.find(({ isFrozen }) => !isFrozen) ?? this.#instance(0)
}
