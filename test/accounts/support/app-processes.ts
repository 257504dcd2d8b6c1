import { type Child, childProgram } from '../../storage/support/children.ts'
import { roundsUntil } from '../../support/cpu-time.ts'
import { assert, suite } from '../../support/suite.ts'
import { withGateway } from './first-requests.ts'

/** The plan of all accounts. It limits only requests per day. */
export const PLAN = 'everybody'

const PROCESSES = 4
const KNOWN_WITHIN_MS = 1_000

interface Place {
  place: string
  remove(): Promise<void>
}

interface Shared {
  program?: Awaited<ReturnType<typeof childProgram>>
}

type Program = Shared['program']

const slowly = { timeoutMs: 300_000 }

/**
 * Declares the tests of an app that runs in four processes. One of them revokes and pauses accounts. `create` creates an empty store; `end` is called
 * after all tests.
 */
export function appConformance(
  store: string,
  { create, end }: { create(): Promise<Place>; end?(): Promise<void> },
): void {
  const test = openSuite(`an app in ${PROCESSES} processes on ${store}`, end)

  test('all processes learn within a second that an account was revoked', slowly, async ({ program }) => {
    const latest = await roundsUntil(KNOWN_WITHIN_MS, () =>
      inPlace(create, async (location) => {
        const app = await startApp(program, location)
        const [first] = app.processes
        assert.equal(await app.all('ask alice'), repeat('200'))
        await app.all('untilKept alice')
        await app.all('signOut')
        assert.equal(await app.all('ask alice'), repeat('200'), 'identities are cached')
        const rejected = app.all('untilRejected alice')
        const revokedAt = Number(await first?.('revoke alice'))
        const seen = (await rejected).map((line) => JSON.parse(line))
        assert.equal(
          seen.map(({ status }) => status),
          repeat(401),
        )
        await app.all('close')
        const [own = 0, ...others] = seen.map(({ acceptedAt }) => acceptedAt - revokedAt)
        assert.ok(own <= 0, `accepted ${own} ms after its own revocation`)
        return Math.max(...others)
      }),
    )
    assert.ok(Math.min(...latest) <= KNOWN_WITHIN_MS, `ms until all processes knew: ${latest}`)
  })

  test('streams in all processes end with an error within a second after a pause', slowly, async ({ program }) => {
    const latest = await roundsUntil(KNOWN_WITHIN_MS, () =>
      inPlace(create, async (location) => {
        const app = await startApp(program, location)
        const [first] = app.processes
        assert.equal(await app.all('stream alice'), repeat('200'))
        const ending = app.all('streamEnd')
        const pausedAt = Number(await first?.('pause alice'))
        const ends = (await ending).map((line) => JSON.parse(line))
        for (const { text } of ends) {
          assert.match(text, /Once/)
          assert.match(text, /data: \{"error":\{[^\n]*"account_paused"/)
        }
        assert.equal(await app.all('ask alice'), repeat('403'))
        assert.equal(await app.all('ask bob'), repeat('200'))
        await app.all('close')
        return Math.max(...ends.map(({ endedAt }) => endedAt - pausedAt))
      }),
    )
    assert.ok(Math.min(...latest) <= KNOWN_WITHIN_MS, `ms until all streams ended: ${latest}`)
  })
}

/** Makes the storage of the processes unavailable for a while. */
export interface Outage {
  begin(): Promise<unknown>
  end(): Promise<unknown>
}

/**
 * Declares the test of an app in four processes whose storage is temporarily unavailable. `outage` stops and starts the storage server. Without it,
 * the processes cut off their own access.
 */
export function outageConformance(
  store: string,
  { create, outage, end }: { create(): Promise<Place>; outage?: Outage; end?(): Promise<void> },
): void {
  const test = openSuite(`an app in ${PROCESSES} processes that lose ${store}`, end)

  test(
    'known accounts follow onStorageUnavailable, unknown accounts get a 503, and each request counts once',
    slowly,
    ({ program }) =>
      inPlace(create, async (location) => {
        const app = await startApp(program, location)
        const { begin, end: restore } = outage ?? {
          begin: () => app.all('loseStorage'),
          end: () => app.all('findStorage'),
        }
        assert.equal(await app.all('ask alice'), repeat('200'))
        assert.equal(await app.all('ask payer'), repeat('200'))
        assert.equal(await app.all('stream alice'), repeat('200'))

        await begin()
        await app.all('finishStreams')
        for (const line of await app.all('streamEnd')) assert.match(JSON.parse(line).text, /\[DONE\]/)
        assert.equal(await app.all('ask alice'), repeat('200'), 'request limits let the request pass')
        assert.equal(await app.all('ask payer'), repeat('503'), 'dollar limits block it')
        assert.equal(await app.all('ask stranger'), repeat('503'))
        await restore()

        await app.eventually('ask stranger', '200')
        await app.eventually('ask alice', '200')
        const uncounted = PROCESSES // requests that passed while the limit couldn't be checked
        const counted = app.times('ask alice', '200') + app.times('stream alice', '200') - uncounted
        await app.eventually('used alice', JSON.stringify({ used: counted, reserved: 0 }))
        const served = app.times('ask alice', '200') + app.times('stream alice', '200')
        await app.all('close')
        assert.is(await countRequests(location, 'alice'), served)
      }),
  )
}

function openSuite(name: string, end: (() => Promise<void>) | undefined) {
  const test = suite<Shared>(name, {})
  test.before(slowly, async (context) => {
    context.program = await childProgram(new URL('./gateway-process.ts', import.meta.url))
  })
  test.after(async ({ program }) => {
    await program?.remove()
    await end?.()
  })
  return test
}

async function inPlace<T>(create: () => Promise<Place>, action: (place: string) => Promise<T>): Promise<T> {
  const { place, remove } = await create()
  try {
    await setUp(place)
    return await action(place)
  } finally {
    await remove()
  }
}

const setUp = (location: string) =>
  withGateway(location, async ({ api }) => {
    await api.connections.create({
      provider: 'one',
      apiKey: 'secret-of-one',
      providerSpecificData: { baseUrl: 'http://one.test' },
    })
    await api.groups.put({ id: PLAN, name: PLAN, each: { requests: { total: 1_000_000 } } })
  })

const countRequests = (location: string, account: string) =>
  withGateway(location, async ({ api }) => (await api.usage.summary({ account })).totals.requests)

/** Sends an order to a process. Resolves to the result. */
type Send = (order: string) => Promise<string>

async function startApp(program: Program, location: string) {
  const children = Array.from({ length: PROCESSES }, () => program?.start(location) as Child) // set by `before`
  await Promise.all(children.map((child) => child.output('ready')))
  const results: Array<{ order: string; result: string }> = []
  const processes = children.map((child): Send => {
    let orders = 0
    return async (order) => {
      const number = ++orders
      child.go(`${number} ${order}`)
      const line = await child.output(`${number} `)
      const result = line.slice(`${number} `.length)
      results.push({ order, result })
      return result
    }
  })
  return {
    processes,
    all: (order: string) => Promise.all(processes.map((send) => send(order))),
    /** Sends an order to each process until it returns the expected result. */
    async eventually(order: string, expected: string): Promise<void> {
      for (const send of processes) {
        let result = await send(order)
        for (let tries = 0; result !== expected && tries < 300; tries++) {
          await new Promise((resolve) => setTimeout(resolve, 100))
          result = await send(order)
        }
        assert.is(result, expected, order)
      }
    },
    /** Returns how many times an order returned this result. */
    times: (order: string, expected: string) =>
      results.filter((result) => result.order === order && result.result === expected).length,
  }
}

const repeat = <T>(value: T): T[] => Array.from({ length: PROCESSES }, () => value)
