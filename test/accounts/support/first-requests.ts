import { createGateway, type Gateway } from '../../../src/gateway.ts'
import { openStore } from '../../services/open-store.ts'
import { type Child, childProgram } from '../../storage/support/children.ts'
import { assert, suite } from '../../support/suite.ts'

export const SECRET = 'a secret that all processes of a test have'
/** The number of requests that an account can pay for, and the number that each process sends concurrently. */
const ALLOWED = 500
export const PER_PROCESS = 250
/** Each request is allowed one output token, and uses it. */
export const USD_PER_REQUEST = 0.001
export const ALLOWED_USD = ALLOWED * USD_PER_REQUEST

const PROCESSES = 4

/**
 * Declares the tests of concurrent requests from one account in four processes on a store. `create` creates an empty store; `end` is called after all
 * tests.
 */
export function firstRequestsConformance(
  store: string,
  { create, end }: { create(): Promise<{ place: string; remove(): Promise<void> }>; end?(): Promise<void> },
): void {
  const test = suite<{ program?: Awaited<ReturnType<typeof childProgram>> }>(
    `concurrent requests from one account on ${store}`,
    {},
  )
  const slowly = { timeoutMs: 300_000 }

  test.before(slowly, async (context) => {
    context.program = await childProgram(new URL('./client-process.ts', import.meta.url))
  })
  test.after(async ({ program }) => {
    await program?.remove()
    await end?.()
  })

  /** Sets up the store and mints a token that pays for one request. */
  const prepare = (location: string) =>
    withGateway(location, async ({ api }) => {
      await api.connections.create({ provider: 'one', providerSpecificData: { baseUrl: 'http://one.test' } })
      const { token } = await api.tokens.mint({ account: 'user_2', limits: { requests: { total: 1 } } })
      return token
    })

  /** Returns how much the account has spent, in US dollars. */
  const readSpent = (location: string) =>
    withGateway(location, async ({ api }) => {
      await api.accounts.update('user_1', { limits: { usd: { total: ALLOWED_USD } } })
      const { limits } = await api.accounts.limits.get('user_1')
      return limits.map(({ used, reserved, unsettled }) => ({ used, reserved, unsettled }))[0]
    })

  async function askAtOnce(children: Child[]): Promise<Record<string, number>> {
    await Promise.all(children.map((child) => child.output('ready')))
    for (const child of children) child.go()
    const lines = await Promise.all(children.map((child) => child.output('answered ')))
    const all: Record<string, number> = {}
    for (const line of lines)
      for (const [outcome, count] of Object.entries<number>(JSON.parse(line.slice('answered '.length))))
        all[outcome] = (all[outcome] ?? 0) + count
    return all
  }

  test(
    `if an account's first 1,000 requests arrive concurrently, only those within its limit succeed`,
    slowly,
    async ({ program }) => {
      const { place, remove } = await create()
      try {
        await prepare(place)
        const children = Array.from({ length: PROCESSES }, () => program?.start(place, '') as Child) // set by `before`
        const { 200: server, ...others } = await askAtOnce(children)
        assert.is(server, ALLOWED, JSON.stringify(others))
        const unexpected = Object.keys(others).filter((status) => !['402', '429'].includes(status))
        assert.equal(unexpected, [])
        assert.equal(await readSpent(place), { used: ALLOWED_USD, reserved: 0, unsettled: 0 })
      } finally {
        await remove()
      }
    },
  )

  test('a single-request token is accepted once in 1,000 concurrent requests', slowly, async ({ program }) => {
    const { place, remove } = await create()
    try {
      const token = await prepare(place)
      const children = Array.from({ length: PROCESSES }, () => program?.start(place, token) as Child)
      const { 200: server, ...others } = await askAtOnce(children)
      assert.is(server, 1, JSON.stringify(others))
      assert.equal(Object.keys(others), ['429'])
    } finally {
      await remove()
    }
  })
}

/** Opens a gateway on the store, and closes both after `work` has ended. */
export async function withGateway<T>(location: string, action: (gateway: Gateway) => Promise<T>): Promise<T> {
  const { storage, end } = await openStore(location)
  const gateway = createGateway({ storage, ...(!storage.ownSecret && { secret: SECRET }), logger: false })
  try {
    return await action(gateway)
  } finally {
    await gateway.close()
    await storage.close?.()
    await end()
  }
}
