import { getWindowStart, toMinute } from '../../../src/features/limits/ledger/windows.ts'
import type { RequestRecord } from '../../../src/request/hook-records.ts'
import type { LimitState, LimitWindow, UsageLimits } from '../../../src/types/limits.ts'
import { type Call, json } from '../../pipeline/support/upstream.ts'
import type { Random } from '../../support/random.ts'
import { assert } from '../../support/suite.ts'
import { getCounted } from './counted-usage.ts'
import type { Instances } from './instances.ts'
import { metered } from './metered-providers.ts'
import { bodyFor, cutAt } from './random-request.ts'

/** The usage that a provider call reported, and its start time. */
interface CallAccount {
  title: string
  minute: number
  tokens: number
  usd: number
}

const runTurns = async (count = 4): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

const WINDOWS: readonly LimitWindow[] = ['minute', 'hour', 'day', 'week', 'month', 'total']

/** Matches the gate's error messages. */
const OF_GATE = /The API key \\"k\\" can|The request could use/

/** A request whose client is still waiting for the response. */
interface Sent {
  title: string
  controller: AbortController
  isOther: boolean
  reply: Promise<Response>
  reader?: ReadableStreamDefaultReader<Uint8Array> | undefined
  isOver: boolean
  /** Resolves when the response has arrived. Rejects if the response was wrong. */
  done?: Promise<void>
}

/** Performs random actions with one key, and checks their results. */
export class History {
  readonly records: RequestRecord[] = []
  /** The events so far, for failure messages. */
  readonly course: string[] = []
  keyId = ''
  readonly #random: Random
  readonly #on: Instances
  readonly #calls: CallAccount[] = []
  readonly #asked: Sent[] = []
  readonly #waiting: Array<() => void> = []
  readonly #ids = new Map<string, string>() // request IDs by title
  #key = ''
  #limits: UsageLimits = {}
  /** The highest value that each limit has had so far. */
  readonly #highest = new Map<string, number>()
  #minute = 0
  #hasCrashed = false
  /** Whether the clock has jumped. If so, a healthy instance may have been considered crashed, and its requests ended. */
  #hasJumped = false
  /** Records and calls before this time no longer count. */
  #since = { records: 0, calls: 0, titles: new Set<string>() }

  constructor(random: Random, on: Instances) {
    this.#random = random
    this.#on = on
  }

  async run(): Promise<void> {
    const { first } = this.#on
    await first.api.health.reset()
    this.#draw()
    const { key, id } = await first.api.keys.create({ name: 'k', limits: this.#limits })
    this.#key = key
    this.keyId = id
    this.#on.add(this)
    for (let op = 6 + this.#random.below(10); op > 0; op--) {
      await this.#step()
      await runTurns(this.#random.below(3))
      this.#checkParallel()
    }
    await this.#finish()
    await this.#check()
  }

  /** Responds to a call like a provider. */
  respond(call: Call, title: string): Response | Promise<Response> {
    const random = this.#random
    this.#minute = Math.max(this.#minute, toMinute(this.#on.clock.now()))
    const account: CallAccount = { title, minute: this.#minute, tokens: 0, usd: 0 }
    this.#calls.push(account)
    this.#checkParallel()
    const kind = random.below(20)
    if (kind < 2) return json({ error: { message: 'Broken' } }, 500)
    if (kind === 2) return json({ error: { message: 'Busy' } }, 429, { 'retry-after': '1' })
    if (kind === 3) return Response.error()
    const respond = () => (call.signal.aborted ? Response.error() : this.#answered(call, account))
    if (kind > 9) return respond()
    return new Promise((resolve) => this.#waiting.push(() => resolve(respond())))
  }

  /** Creates a complete or truncated response with at most the maximum number of tokens. */
  #answered(call: Call, account: CallAccount): Response | Promise<Response> {
    const random = this.#random
    const sent = JSON.parse(call.body)
    const config = sent.generationConfig ?? {}
    const limit = sent.max_tokens ?? sent.max_completion_tokens ?? sent.max_output_tokens ?? config.maxOutputTokens
    const most = Math.min(limit ?? 4_000, call.provider === 'cheap' ? 2_000 : 4_000) * (sent.n ?? 1)
    const output = random.below(2) === 0 ? most : 1 + random.below(most)
    const input = 5 + random.below(6)
    const words = Array.from({ length: Math.min(output, 1 + random.below(8)) }, () => 'a ')
    const price =
      call.provider === 'cheap'
        ? { input: 0.1, output: 0.1 }
        : call.provider === 'free'
          ? undefined
          : { input: 1, output: 10 }
    const report = {
      get tokens() {
        return account.tokens
      },
      set tokens(tokens: number) {
        account.tokens = tokens
        account.usd = price ? (input * price.input + (tokens - input) * price.output) / 1e6 : 0
      },
    }
    const response = metered({ input, output, words }, report)(call, 0)
    return random.below(6) === 0 ? cutAt(response, random.below(8), random.below(2) === 0) : response
  }

  async #step(): Promise<void> {
    const random = this.#random
    const { fake, first } = this.#on
    const open = this.#asked.filter(({ isOver }) => !isOver)
    const one = open[random.below(open.length || 1)]
    const op = random.below(16)
    this.course.push(`step ${op} at ${new Date(this.#on.clock.now()).toISOString()}`)
    switch (op) {
      case 0:
        return this.#waiting.splice(random.below(this.#waiting.length || 1), 1)[0]?.()
      case 1:
      case 2:
        if (one) await this.#read(one, 1 + random.below(6))
        return
      case 3:
        return one && this.#leave(one)
      case 4:
        if (open.length === 0) {
          await this.#settled() // an instance that is idle for a day during a request is considered crashed
          this.#on.passed += [0, 3_600_000, 86_400_000][random.below(3)] ?? 0
        }
        return fake.advance([1_000, 20_000, 60_000 - (fake.now() % 60_000)][random.below(3)] ?? 0)
      case 5:
        this.#hasJumped = true
        this.#on.skew = random.below(3) === 0 ? (random.below(200) - 100) * 1_000 : 0
        return
      case 6:
        if (random.below(4) === 0 && this.#on.second) this.#crash()
        return
      case 7:
        if (random.below(2) > 0) return
        this.#draw()
        await first.api.keys.update(this.keyId, { limits: this.#limits })
        return
      case 8:
        if (random.below(2) === 0 && open.length === 0 && !this.#hasCrashed) await this.#reset()
        return
      default:
        return this.#ask()
    }
  }

  async #ask(): Promise<void> {
    const random = this.#random
    const { path, body, most, isPriced } = bodyFor(random)
    const isOther = random.below(3) === 0
    const gateway = isOther ? this.#on.other : this.#on.first
    const title = `${this.keyId}-${this.#asked.length}`
    const isAlone = this.#asked.every(({ isOver }) => isOver) && !this.#hasCrashed
    if (isAlone) await this.#settled() // an abandoned request may still be making its reservation
    const states = isAlone ? await this.#states() : []
    const before = isAlone && states.every(({ reserved }) => reserved === 0) ? states : undefined
    this.#on.send(title, this)
    const limits = this.#limits
    const controller = new AbortController()
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', 'x-title': title }
    const request = { method: 'POST', headers, body: JSON.stringify(body), signal: controller.signal }
    const requestOptions: Sent = {
      title,
      controller,
      isOther,
      isOver: false,
      reply: gateway.fetch(new Request(`http://gateway${path}`, request)),
    }
    this.#asked.push(requestOptions)
    requestOptions.done = requestOptions.reply.then(async (reply) => {
      this.course.push(
        `${title.slice(-2)} ${isOther ? 'B' : 'A'} ${path} ${reply.status} ${reply.headers.get('x-signalbox-attempts')}`,
      )
      this.#ids.set(title, reply.headers.get('x-signalbox-request-id') ?? '')
      const isStill = this.#asked.at(-1) === requestOptions && this.#limits === limits // nothing happened in between
      const isRefused = before && isPriced && isStill && (reply.status === 402 || reply.status === 429)
      const text = isRefused ? await reply.clone().text() : ''
      if (isRefused && OF_GATE.test(text)) this.#checkRefusal(before, most, text) // not an error from a provider or from a target in cooldown
      if (!/event-stream/.test(reply.headers.get('content-type') ?? '')) requestOptions.isOver = true
      else requestOptions.reader = reply.body?.getReader()
    })
    requestOptions.done.catch(() => {}) // awaited at the end
    if (random.below(2) === 0) await runTurns(6)
  }

  async #read(requested: Sent, chunks: number): Promise<void> {
    for (let left = chunks; left > 0 && requested.reader && !requested.isOver; left--) {
      const { done } = await Promise.race([requested.reader.read(), runTurns(8).then(() => ({ done: undefined }))])
      if (done === undefined) return this.#leave(requested) // the provider sends nothing
      if (done) requested.isOver = true
    }
  }

  #leave(requested: Sent): void {
    requested.isOver = true
    if (requested.reader) requested.reader.cancel().catch(() => {})
    else requested.controller.abort()
  }

  #crash(): void {
    this.#hasCrashed = true
    this.#on.second?.crash()
    for (const pending of this.#asked) if (pending.isOther) pending.isOver = true
  }

  async #reset(): Promise<void> {
    await this.#settled()
    await this.#on.ledger.reset({ scope: 'key', id: this.keyId })
    this.#since = {
      records: this.records.length,
      calls: this.#calls.length,
      titles: new Set(this.#asked.map(({ title }) => title)),
    }
  }

  /** Chooses new random limits. */
  #draw(): void {
    const random = this.#random
    const window = () => WINDOWS[random.below(WINDOWS.length)] ?? 'total'
    const limits: UsageLimits = {}
    if (random.below(2) === 0) limits.requests = { [window()]: 1 + random.below(8) }
    if (random.below(2) === 0)
      limits.tokens = { [window()]: 200 + random.below(12_000), [window()]: 500 + random.below(20_000) }
    if (random.below(3) === 0) limits.usd = { [window()]: 0.0005 + random.next() * 0.1 }
    if (random.below(3) === 0 || Object.keys(limits).length === 0) limits.parallel = 1 + random.below(3)
    this.#limits = limits
    const isFirst = this.keyId === ''
    for (const unit of ['requests', 'tokens', 'usd'] as const)
      for (const value of WINDOWS) this.#raise(`${unit} ${value}`, limits[unit]?.[value], isFirst)
    this.#raise('parallel', limits.parallel, isFirst)
  }

  /** Updates the highest recorded value of a limit. No limit counts as the highest. */
  #raise(name: string, limit = Number.POSITIVE_INFINITY, isFirst = false): void {
    this.#highest.set(name, Math.max(limit, isFirst ? 0 : (this.#highest.get(name) ?? 0)))
  }

  async #finish(): Promise<void> {
    for (const pending of this.#asked) {
      if (!pending.isOver && this.#random.below(2) === 0) this.#leave(pending)
      for (const release of this.#waiting.splice(0)) release()
      await runTurns(1)
      await this.#read(pending, 60)
      if (!pending.isOver) this.#leave(pending)
    }
    while (this.#waiting.length > 0) {
      for (const release of this.#waiting.splice(0)) release()
      await runTurns()
    }
    this.#on.skew = 0
    await Promise.all(
      this.#asked.filter((requested) => !requested.isOther || !this.#hasCrashed).map(({ done }) => done),
    )
    await this.#settled()
    if (!this.#hasCrashed) return
    await this.#states()
    await this.#on.fake.advance(61_000) // until the lost instance has made no progress for long enough
  }

  /** Waits until all requests of this key on running instances have finished and their usage is written. */
  async #settled(): Promise<void> {
    await runTurns(12)
  }

  #states(): Promise<LimitState[]> {
    return this.#on.ledger.getStates({ scope: 'key', id: this.keyId, limits: ALL })
  }

  #checkParallel(): void {
    if (this.#hasCrashed || this.#hasJumped) return
    const started = new Set(this.#calls.map(({ title }) => title)).size
    const ended = this.records.filter(({ attempts }) => attempts.length > 0).length
    assert.ok(started - ended <= (this.#highest.get('parallel') ?? 0), `${started - ended} concurrent requests`)
  }

  /** Checks that a rejected request really didn't fit. Nothing else was in flight. */
  #checkRefusal(before: LimitState[], most = 1_024, text = ''): void {
    const need = most + 100
    const doesFit = (unit: 'requests' | 'tokens' | 'usd', least: number) =>
      WINDOWS.every((window) => {
        const limit = this.#limits[unit]?.[window] ?? Number.POSITIVE_INFINITY
        return limit - (before.find((item) => item.unit === unit && item.window === window)?.used ?? 0) >= least
      })
    const isFit = doesFit('requests', 1) && doesFit('tokens', need) && doesFit('usd', (need * 10) / 1e6)
    assert.not.ok(
      isFit,
      `a request was rejected although it fits: ${JSON.stringify([text, this.#limits, most, before.map(({ unit, window, used }) => [unit, window, used])])}`,
    )
  }

  async #check(): Promise<void> {
    const states = await this.#states()
    const held = states.filter(({ reserved }) => reserved > 0)
    assert.equal(held, [], 'nothing is reserved anymore')
    this.#checkWindows()
    const findTotal = (unit: string) => states.find((state) => state.unit === unit && state.window === 'total')
    const records = this.records.slice(this.#since.records)
    const attempts = records.flatMap((record) => record.attempts)
    const tokens = attempts.reduce((sum, { usage }) => sum + (usage ? usage.inputTokens + usage.outputTokens : 0), 0)
    const usd = attempts.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0)
    const { used = 0, unsettled = 0 } = findTotal('tokens') ?? {}
    if (this.#hasCrashed) {
      const titles = new Set(this.#asked.filter(({ isOther }) => !isOther).map(({ title }) => this.#ids.get(title)))
      const own = records.filter(({ id }) => titles.has(id)).flatMap((record) => record.attempts)
      const least = own.reduce((sum, { usage }) => sum + (usage ? usage.inputTokens + usage.outputTokens : 0), 0)
      assert.ok(used + unsettled >= least, `${used} + ${unsettled} unsettled tokens, at least ${least} recorded`)
      return
    }
    assert.equal([used, unsettled], [tokens, 0], 'the used tokens match the records')
    assert.ok(
      Math.abs((findTotal('usd')?.used ?? 0) - usd) <= attempts.length * 1e-9,
      `${findTotal('usd')?.used} of ${usd} USD`,
    )
    const called = new Set(this.#calls.slice(this.#since.calls).map(({ title }) => title)).size
    const requests = findTotal('requests')?.used ?? 0
    const let_ = records.filter(({ end }) => end !== 'refused').length
    assert.ok(requests >= called && requests <= let_, `${requests} counted, ${called} called, ${let_} admitted`)
    this.#checkReports(records)
  }

  /** Checks that the records contain what the providers reported, unless the usage was estimated. */
  #checkReports(records: readonly RequestRecord[]): void {
    for (const { id, attempts, end } of records) {
      const title = [...this.#ids].find(([, one]) => one === id)?.[0]
      const counted = attempts.reduce((sum, { usage }) => sum + (usage ? usage.inputTokens + usage.outputTokens : 0), 0)
      const reported = this.#calls.filter((call) => call.title === title).reduce((sum, call) => sum + call.tokens, 0)
      // The gateway doesn't get what a provider sends after the client has disconnected.
      const isLeft =
        end === 'aborted' || attempts.some(({ outcome }) => outcome === 'outrun' || outcome === 'cancelled')
      const isEstimated = attempts.some(({ costSource }) => costSource === 'estimated')
      if (title !== undefined && !isLeft && !isEstimated)
        assert.is(counted, reported, `the record of ${title}: ${JSON.stringify({ end, attempts })}`)
    }
  }

  /** Checks that no window exceeded the highest value its limit ever had. */
  #checkWindows(): void {
    const calls = this.#calls.slice(this.#since.calls)
    const seen = new Set<string>()
    for (const window of WINDOWS) {
      const totals = new Map<number, { titles: Set<string>; tokens: number; usd: number }>()
      seen.clear()
      for (const call of calls) {
        const { title, minute } = call
        const record = this.records.find(({ id }) => id === this.#ids.get(title))
        const { tokens, usd } = getCounted(call, record, { isFirst: !seen.has(title) })
        seen.add(title)
        const start = getWindowStart(window, minute)
        const sum = totals.get(start) ?? { titles: new Set<string>(), tokens: 0, usd: 0 }
        totals.set(start, { titles: sum.titles.add(title), tokens: sum.tokens + tokens, usd: sum.usd + usd })
      }
      for (const { titles, tokens, usd } of totals.values())
        for (const [unit, spent] of [
          ['tokens', tokens],
          ['usd', usd - 1e-9],
        ] as const)
          assert.ok(
            spent <= (this.#highest.get(`${unit} ${window}`) ?? 0),
            `${spent} ${unit} in a ${window}, ${titles.size} requests`,
          )
    }
  }
}

const ALL: UsageLimits = {
  requests: Object.fromEntries(WINDOWS.map((window) => [window, 1e9])),
  tokens: Object.fromEntries(WINDOWS.map((window) => [window, 1e12])),
  usd: Object.fromEntries(WINDOWS.map((window) => [window, 1e6])),
  parallel: 1e6,
}
