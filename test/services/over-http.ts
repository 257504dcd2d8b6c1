import { createGateway, type Storage } from '../../src/index.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { assert, type Suite } from '../support/suite.ts'
import type { Fault, Front } from './http-front.ts'

/** A store that is reached over HTTP. */
export interface HttpStore {
  front: Front
  /** Creates a store. Returns a function that opens it like a cold instance, each time it is called. */
  create(): () => Storage
  /** Whether the adapter retries a failed request, which hides a single fault. */
  retries: boolean
  /** Whether its client waits for each response before it sends the next request. */
  isSerial?: boolean
}

/** A store that supports `increment`. */
export type Incrementing = Storage & Required<Pick<Storage, 'increment'>>

export function withIncrement(storage: Storage): Incrementing {
  if (!storage.increment) throw new Error("the store doesn't support increment")
  return storage as Incrementing // checked above
}

/** Every fault that the store recovers from, and whether the write runs. */
const FAULTS: Record<Exclude<Fault, 'slow' | 'twice'>, 'run' | 'not run'> = {
  'cut before': 'not run',
  'cut after': 'run',
  'cut within': 'run',
  stall: 'run',
  busy: 'not run',
  error: 'not run',
  down: 'not run',
  html: 'not run',
}

const SECRET = 'a secret of 32 characters or more'
const TOKEN = 'a-management-token-of-32-characters-or-more'

/** Registers the tests for a store over HTTP: its round trips, and its behavior when the network fails. */
export function testOverHttp(
  test: Suite<object>,
  name: string,
  { front, create, retries, isSerial = false }: HttpStore,
): void {
  const build = (storage: Storage, onCall = () => {}) =>
    createGateway({
      ...{ storage, secret: SECRET, logger: false, management: { token: TOKEN } },
      fetch: async () => {
        onCall()
        return Response.json(chatResponse('Hello'))
      },
      connections: { openai: { apiKey: 'sk-test' } },
    })

  test.before.each(() => {
    front.faults = []
  })

  test(`${name}: each operation takes one request, even the first one on a cold instance`, async () => {
    const open = create()
    await open().set('a', '1')
    const storage = withIncrement(open())
    const count = async (action: () => Promise<unknown>) => {
      const before = front.requests
      await action()
      return front.requests - before
    }
    assert.is(await count(() => storage.get('a')), 1)
    assert.is(await count(() => storage.list('')), 1)
    assert.is(await count(() => storage.set('b', '1', { ifVersion: null })), 1)
    assert.is(await count(() => storage.increment('c', 1)), 1)
    assert.is(await count(() => storage.delete('a')), 1)
  })

  if (!isSerial)
    test(`${name}: a cold instance checks a known key's limits in two round trips`, async () => {
      const open = create()
      const storage = open()
      const first = build(storage)
      const group = await first.api.groups.create({ name: 'team', limits: { requests: { day: 3 } } })
      const limits = { requests: { day: 3 } }
      const { key } = await first.api.keys.create({ name: 'limited', group: group.id, limits })
      for (let index = 0; index < 100; index++) await storage.set(`keys/!${index}`, 'other')
      const instance = build(open()) // remembers the caller's records
      assert.is((await send(instance, key)).status, 200)
      await instance.close()
      await first.close()
      for (const _ of [1, 2]) {
        let before = 0
        const gateway = build(open(), () => {
          assert.is(front.roundTrips - before, 2)
        })
        front.delayMs = 50 // longer than the time between two sequential requests
        before = front.roundTrips
        assert.is((await send(gateway, key)).status, 200)
        front.delayMs = 0
        await gateway.close()
      }
    })

  for (const [fault, effect] of Object.entries(FAULTS) as Array<[keyof typeof FAULTS, string]>) {
    const outcome = retries
      ? 'happens once'
      : `is rejected, and ${effect === 'run' ? 'takes effect once' : 'has no effect'}`
    test(`${name}: a write ${outcome} if the network fails with "${fault}"`, async () => {
      const open = create()
      const other = withIncrement(open())
      await other.increment('count', 1)
      const version = await other.set('old', '1')
      const write = async (action: (storage: Incrementing) => Promise<unknown>) => {
        const storage = withIncrement(open())
        if (retries) await storage.list('') // a cold instance's first operation may take one more request
        front.faults = [fault]
        const result = await within(action(storage)).then(
          (value) => ({ value, error: undefined }),
          (error: Error & { code?: string }) => ({ value: false, error }),
        )
        front.faults = []
        if (retries) return assert.ok(result.value, String(result.error))
        if (fault === 'stall') return assert.is(result.error, LATE)
        assert.is(result.error?.code, 'STORAGE_UNREACHABLE', String(result.error))
        assert.match(result.error?.message ?? '', /Check /)
      }
      const isRun = retries || effect === 'run'
      await write((storage) => storage.increment('count', 3))
      assert.is((await other.get('count'))?.value, isRun ? '4' : '1')
      await write((storage) => storage.set('new', '1', { ifVersion: null }))
      assert.is((await other.get('new'))?.value, isRun ? '1' : undefined)
      await write((storage) => storage.set('old', '2', { ifVersion: String(version) }))
      assert.is((await other.get('old'))?.value, isRun ? '2' : '1')
      await write((storage) => storage.delete('old'))
      assert.is((await other.get('old'))?.value, isRun ? undefined : '1')
    })

    test(`${name}: a change succeeds or gets a 503 if the network fails with "${fault}"`, async () => {
      const open = create()
      const first = build(open())
      await first.api.combos.create({ name: 'first', models: ['openai/gpt-5'] })
      for (const skipped of [0, 1, 2]) {
        const gateway = build(open())
        await gateway.api.settings.get()
        front.faults = [...Array<undefined>(skipped), fault]
        const startedAt = performance.now()
        const response = await gateway.fetch('http://gateway/api/combos', {
          method: 'POST',
          headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: `new-${skipped}`, models: ['openai/gpt-5'] }),
        })
        assert.ok(performance.now() - startedAt < 6_000)
        front.faults = []
        const text = await response.text()
        const { combos } = await build(open()).api.combos.list()
        if (response.status === 201) assert.ok(combos.some(({ name }) => name === `new-${skipped}`))
        else assert.match(`${response.status} ${text}`, /^503 .*storage.* Retry in a moment\./)
      }
    })
  }

  test(`${name}: a write that the network delivers twice counts once`, async () => {
    const open = create()
    const storage = withIncrement(open())
    await storage.increment('count', 1)
    front.faults = ['twice']
    assert.is(await storage.increment('count', 3), 4)
    front.faults = ['twice']
    const version = await storage.set('a', '1', { ifVersion: null })
    assert.type(version, 'string')
    front.faults = ['twice']
    const next = await storage.set('a', '2', { ifVersion: String(version) })
    assert.type(next, 'string')
    assert.equal(await open().get('a'), { value: '2', version: next })
    assert.is((await open().get('count'))?.value, '4')
  })

  test(`${name}: no acknowledged write is lost, and no increment counts twice, while every third request fails`, async () => {
    const open = create()
    const storage = withIncrement(open())
    await storage.increment('count', 0)
    const faults = (Object.keys(FAULTS) as Fault[]).filter((fault) => fault !== 'stall')
    front.faults = Array.from({ length: 400 }, (_, index) =>
      index % 3 === 2 ? faults[Math.floor(index / 3) % faults.length] : undefined,
    )
    const totals = await Promise.allSettled(Array.from({ length: 60 }, () => storage.increment('count', 1)))
    const writes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) => storage.set(`key ${index}`, String(index), { ifVersion: null })),
    )
    front.faults = []
    const counted = totals.flatMap((sum) => (sum.status === 'fulfilled' ? sum.value : []))
    const count = Number((await open().get('count'))?.value)
    assert.is(new Set(counted).size, counted.length)
    assert.ok(count >= counted.length && count <= 60, `${count} of ${counted.length}`)
    if (retries) assert.is(count, 60)
    const kept = new Set((await open().list('key ')).map(({ key }) => key))
    for (const [index, write] of writes.entries()) if (write.status === 'fulfilled') assert.ok(kept.has(`key ${index}`))
  })

  test(`${name}: several cold instances enforce a limit exactly`, async () => {
    const open = create()
    const first = build(open())
    const { key } = await first.api.keys.create({ name: 'limited', limits: { requests: { day: 3 } } })
    await first.close()
    const sendToColdInstance = async () => {
      const gateway = build(open())
      const response = await send(gateway, key)
      const text = await response.text()
      await gateway.close()
      return response.status === 200 ? 'served' : text
    }
    const texts = await Promise.all(Array.from({ length: 8 }, sendToColdInstance))
    assert.is(texts.filter((text) => text === 'served').length, 3, texts.join('\n'))
    assert.is(texts.filter((text) => text.includes('rate_limit')).length, 5, texts.join('\n'))
  })
}

const send = (gateway: Pick<ReturnType<typeof createGateway>, 'fetch'>, key: string) =>
  gateway.fetch('http://localhost/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai/gpt-5', messages: [{ role: 'user', content: 'Hi' }] }),
  })

/** The error for a write that gets no response in these tests. A gateway rejects it after 5 s. */
const LATE = new Error('the response is late')

/** Settles like the promise, or rejects with `LATE` after 3.5 s, which is longer than an adapter waits for a response. */
function within<T>(promise: Promise<T>): Promise<T> {
  return Promise.race([promise, new Promise<never>((_, reject) => setTimeout(reject, 3_500, LATE).unref())])
}
