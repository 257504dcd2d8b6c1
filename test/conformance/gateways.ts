import { setTimeout as sleep } from 'node:timers/promises'
import { times } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import type { Reply } from './gateways/orders.ts'
import { COUNT, gatewayProgram, type Processes, type Program, startProcesses } from './gateways/processes.ts'

/** A store that several gateways share. */
export interface SharedStore {
  /** Creates an empty store. `place` identifies it, as in `openStore`. */
  create(): Promise<{ place: string; remove(): Promise<void> }> | { place: string; remove(): Promise<void> }
  /** The time within which all gateways must know of an acknowledged pause, in ms. */
  knownWithinMs: number
  /** Ends the server after the last test. */
  end?(): Promise<void>
}

const WRITES = times(200)
const RACES = times(50)
const ROUNDS = 5
/**
 * The test fails after this many rounds unless the median of five consecutive rounds is within the limit, because other processes may use the CPU
 * during some rounds.
 */
const MOST_ROUNDS = 30

type SharedTest = (title: string, body: (processes: Processes) => Promise<void>) => void

/** Tests that four gateways in separate processes behave like one on a shared store. */
export function sharedStoreConformance(name: string, store: SharedStore): void {
  const shared = register(name, store)
  pauses(shared, name, store)
  changes(shared)
  races(shared)
  testTurns(shared)
}

/** Tests that four gateways reject a paused key in time. */
export const sharedPauseConformance = (name: string, store: SharedStore): void =>
  pauses(register(name, store), name, store)

function register(name: string, { create, end }: SharedStore): SharedTest {
  const test = suite<{ program?: Program }>(`four gateways on ${name}`, {})
  test.before(async (context) => {
    context.program = await gatewayProgram()
  })
  test.after(async (context) => {
    await context.program?.remove()
    await end?.()
  })

  return (title, body) =>
    test(title, { timeoutMs: 300_000 }, async ({ program }) => {
      if (!program) return assert.unreachable('`before` makes it')
      const { place, remove } = await create()
      const processes = await startProcesses(program, place)
      try {
        await body(processes)
      } finally {
        await processes.end()
        await remove()
      }
    })
}

function changes(shared: SharedTest): void {
  shared(
    `the gateways lose none of ${COUNT} x ${WRITES} read-modify-write cycles in the storage`,
    async ({ one, all }) => {
      await all(() => ({ does: 'adds', times: WRITES }))
      const added = await one<null>(0, { does: 'adds', times: 1 })
      assert.is(added, null)
      assert.is(await one(1, { does: 'reads the sum' }), COUNT * WRITES + 1)
    },
  )

  shared(
    `the gateways lose none of ${COUNT} x ${WRITES} changes to different fields of one record`,
    async ({ one, all }) => {
      const { id } = (await one(0, post('/api/combos', { name: 'shared', models: ['openai/m'] }))).body
      const path = `/api/combos/${id}`
      const numbers = Array.from({ length: WRITES }, (_, index) => index)
      const members: Array<[string, (index: number) => unknown]> = [
        ['stickyLimit', (index) => index + 1],
        ['maxAttempts', (index) => (index % 50) + 1],
        ['hedge', (index) => index % 2 === 0],
        ['models', (index) => [`openai/m-${index}`]],
      ]
      const reports = await all<{ lost: unknown[]; last: unknown }>((index) => {
        const [member, make] = members[index] ?? ['name', String]
        return { does: 'changes', path, member, values: numbers.map((number) => make(number)) }
      })
      assert.equal(
        reports.map(({ lost }) => lost),
        Array.from({ length: COUNT }, () => []),
      )
      const wanted = Object.fromEntries(members.map(([member], index) => [member, reports[index]?.last]))
      for (let tries = 0; ; tries++) {
        const { body } = await one(0, get(path))
        const found = Object.fromEntries(members.map(([member]) => [member, body[member]]))
        if (JSON.stringify(found) !== JSON.stringify(wanted) && tries < 60) await sleep(50)
        else return assert.equal(found, wanted)
      }
    },
  )

  shared(`the gateways lose none of ${COUNT} x ${times(50)} concurrently created records`, async ({ all }) => {
    const getNames = (index: number) => Array.from({ length: times(50) }, (_, count) => `alias-${index}-${count}`)
    for (const count of getNames(0).keys()) {
      const created = await all((index) => ({
        does: 'calls',
        method: 'PUT',
        path: '/api/models/aliases',
        body: { alias: getNames(index)[count], model: 'openai/m' },
      }))
      assert.equal(
        created.map(({ status }) => status),
        Array.from({ length: COUNT }, () => 200),
      )
    }
    const wanted = Array.from({ length: COUNT }, (_, index) => getNames(index)).flat()
    for (const { body } of await waitUntilSettled(all, get('/api/models/aliases'), wanted.length))
      assert.equal(Object.keys(body.aliases ?? {}).sort(), wanted.sort())
  })
}

function pauses(shared: SharedTest, name: string, { knownWithinMs }: SharedStore): void {
  shared(`all gateways reject a paused key within ${knownWithinMs} ms`, async ({ one, all }) => {
    await one(0, post('/api/connections', { provider: 'openai', apiKey: 'sk-test' }))
    await waitUntilSettled(all, get('/api/connections'), 1)
    const delays: number[][] = []
    let worst: number[] = []
    let median = Number.POSITIVE_INFINITY
    for (let round = 0; round < MOST_ROUNDS && median > knownWithinMs; round++) {
      const { key, id } = (await one(0, post('/api/keys', { name: `team ${round}` }))).body
      const watching = all<Received>(() => ({ does: 'watches for a refusal', key: String(key) }))
      await all(() => ({ does: 'waits until one was accepted' }))
      const paused = await one(round % COUNT, put(`/api/keys/${id}`, { isActive: false }))
      assert.is(paused.status, 200)
      const seen = await watching
      for (const { others, lastAccepted } of seen) assert.is(lastAccepted > 0 ? others : 'nothing was accepted', '')
      delays.push(seen.map(({ lastAccepted }) => Math.max(0, Math.round(lastAccepted - paused.at))))
      if (delays.length < ROUNDS) continue
      worst = delays
        .slice(-ROUNDS)
        .map((round) => Math.max(...round))
        .sort((a, b) => a - b)
      median = worst[Math.floor(ROUNDS / 2)] ?? Number.POSITIVE_INFINITY
    }
    console.log(`  ms until a pause was known to all ${COUNT} gateways on ${name}: ${worst.join(', ')}`)
    assert.ok(median <= knownWithinMs, `ms for each process in each round: ${JSON.stringify(delays)}`)
  })
}

function races(shared: SharedTest): void {
  shared(`only one gateway gets a combo name that all claim concurrently, in ${RACES} races`, async ({ one, all }) => {
    for (let race = 0; race < RACES; race++) {
      const replies = await all(() => post('/api/combos', { name: `race-${race}`, models: ['openai/m'] }))
      assert.equal(getStatuses(replies), [201, 400, 400, 400])
      for (const { status, body } of replies) if (status === 400) assert.is(getError(body), 'Combo name already exists')
    }
    const { combos } = (await one(3, get('/api/combos'))).body as { combos: Array<{ id: string; name: string }> }
    assert.equal(
      combos.map((combo) => combo.name).sort(),
      Array.from({ length: RACES }, (_, race) => `race-${race}`).sort(),
    )
    const replies = await all((index) => put(`/api/combos/${combos[index]?.id}`, { name: 'renamed' }))
    assert.equal(getStatuses(replies), [200, 400, 400, 400])
    for (const { body } of await waitUntilSettled(all, get('/api/combos'), RACES))
      assert.is((body.combos as typeof combos).filter((combo) => combo.name === 'renamed').length, 1)
  })

  shared(
    `only one gateway gets a connection prefix that all claim concurrently, in ${RACES} races`,
    async ({ all }) => {
      const providers = ['openai', 'anthropic', 'groq', 'mistral']
      for (let race = 0; race < RACES; race++) {
        const prefix = `race-${race}`
        const replies = await all((index) =>
          post('/api/connections', { provider: providers[index], apiKey: 'sk-test', prefix }),
        )
        assert.equal(getStatuses(replies), [201, 400, 400, 400])
        for (const { status, body } of replies)
          if (status === 400) assert.match(getError(body), `"providerSpecificData.prefix" must not be "${prefix}"`)
      }
      const connections = (reply: Reply) => reply.body.connections as Array<{ id: string; prefix?: string }>
      const [first] = await waitUntilSettled(all, get('/api/connections'), RACES)
      const owned = first ? connections(first) : []
      const replies = await all((index) => put(`/api/connections/${owned[index]?.id}`, { prefix: 'moved' }))
      const isSameProvider = new Set(owned.slice(0, COUNT).map((item) => Reflect.get(item, 'provider'))).size < COUNT
      if (!isSameProvider) assert.equal(getStatuses(replies), [200, 400, 400, 400])
    },
  )

  shared(
    `the gateways create a single key if all put the same name concurrently, in ${times(20)} races`,
    async ({ all }) => {
      for (let race = 0; race < times(20); race++) {
        const put = await all<{ key: { id: string } }>(() => ({ does: 'puts a key', input: { name: `team ${race}` } }))
        assert.is(new Set(put.map(({ key }) => key.id)).size, 1)
      }
      for (const { body } of await waitUntilSettled(all, get('/api/keys'), times(20)))
        assert.is((body.keys as unknown[]).length, times(20))
    },
  )
}

function testTurns(shared: SharedTest): void {
  shared("the gateways share a combo's round-robin position without duplicates or gaps", async ({ one, all }) => {
    await one(0, post('/api/connections', { provider: 'openai', apiKey: 'sk-test' }))
    await waitUntilSettled(all, get('/api/connections'), 1)
    const models = ['a', 'b', 'c', 'd']
    await one(
      0,
      post('/api/combos', { name: 'turns', strategy: 'round-robin', models: models.map((id) => `openai/${id}`) }),
    )
    const { key } = (await one(0, post('/api/keys', { name: 'team' }))).body
    const send = (times: number) => ({ does: 'asks', key: String(key), model: 'turns', times }) as const
    await waitUntilSettled(all, get('/api/combos'), 1)

    const inTurn: string[] = []
    for (let turn = 0; turn < 40; turn++) inTurn.push(...(await one<string[]>(turn % COUNT, send(1))))
    assert.equal(
      inTurn,
      inTurn.map((_, turn) => models[turn % models.length]),
    )

    for (let wave = 0; wave < 20; wave++) {
      const responses = (await all<string[]>(() => send(5))).flat()
      assert.equal(
        models.map((model) => responses.filter((response) => response === model).length),
        models.map(() => 5),
      )
    }
  })
}

interface Received {
  lastAccepted: number
  firstRefused: number
  others: string
}

const post = (path: string, body: unknown) => ({ does: 'calls', method: 'POST', path, body }) as const
const put = (path: string, body: unknown) => ({ does: 'calls', method: 'PUT', path, body }) as const
const get = (path: string) => ({ does: 'calls', method: 'GET', path }) as const

/** Resolves to the replies of all processes once each lists this many entries, because changes take a moment to propagate. */
async function waitUntilSettled(all: Processes['all'], order: ReturnType<typeof get>, count: number): Promise<Reply[]> {
  const getSize = ({ body }: Reply) => Object.keys(Object.values(body)[0] ?? {}).length
  for (let tries = 0; ; tries++) {
    const replies = await all(() => order)
    if (tries === 100 || replies.every((reply) => getSize(reply) === count)) return replies
    await sleep(50)
  }
}

const getStatuses = (replies: Reply[]) => replies.map(({ status }) => status).sort()

const getError = ({ error }: Record<string, unknown>): string =>
  typeof error === 'string' ? error : JSON.stringify(error ?? null)
