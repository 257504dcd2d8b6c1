import type { Identify } from '../../src/request/identity.ts'
import { randomCases } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import { byCookie, getOutcome, openApp } from './support/app.ts'

const test = suite('caching identities')

const cacheBy = ({ headers }: Request) => headers.get('cookie') ?? undefined
const open = (resolve: Identify = byCookie, ttlMs = 30_000) => openApp({ identify: { resolve, cacheBy, ttlMs } })

test('without a cache, a user who signs out is rejected on the next request', async () => {
  const signedIn = new Set(['alice'])
  const app = await openApp({
    identify: async (request, about) => {
      const identity = await byCookie(request, about)
      return identity && 'account' in identity && signedIn.has(identity.account) ? identity : null
    },
  })
  assert.is((await app.chat({ as: 'alice' })).status, 200)
  signedIn.delete('alice')
  assert.is(await getOutcome(await app.chat({ as: 'alice' })), '401 identity_required')
})

test('an identity is resolved again after its TTL', async () => {
  let isSignedIn = true
  const app = await open((request, about) => (isSignedIn ? byCookie(request, about) : null))
  for (let times = 0; times < 3; times++) assert.is((await app.chat({ as: 'alice' })).status, 200)
  assert.is(app.requests.length, 1)
  isSignedIn = false
  await app.clock.advance(29_999)
  assert.is((await app.chat({ as: 'alice' })).status, 200)
  await app.clock.advance(1)
  assert.is((await app.chat({ as: 'alice' })).status, 401)
})

test('changing an account drops its cached identity, even if the identity is still being resolved', async () => {
  const asking: Array<(identity: { account: string }) => void> = []
  let hangs = false
  const app = await open((request, about) =>
    hangs ? new Promise((resolve) => asking.push(resolve)) : byCookie(request, about),
  )
  await app.chat({ as: 'alice' })
  await app.chat({ as: 'bob' })
  app.change('alice')
  await app.chat({ as: 'alice' })
  await app.chat({ as: 'bob' })
  assert.is(app.requests.length, 3, 'only alice is identified again')
  hangs = true
  app.change('alice')
  const responding = app.chat({ as: 'alice' })
  while (asking.length === 0) await new Promise((resolve) => setTimeout(resolve))
  app.change('alice')
  asking[0]?.({ account: 'alice' })
  assert.is((await responding).status, 200)
  hangs = false
  await app.chat({ as: 'alice' })
  assert.is(app.requests.length, 5, "a result from before the change isn't cached")
})

test('a paused account is rejected even if its identity is cached', async () => {
  const app = await open()
  await app.chat({ as: 'alice' })
  app.paused.add('alice')
  assert.is(await getOutcome(await app.chat({ as: 'alice' })), '403 account_paused')
})

test("rejections and failures aren't cached", async () => {
  for (const response of [null, undefined, { refuse: 'No.' }, {}, 'fail'] as const) {
    let isOk = false
    const app = await open((request, about) => {
      if (isOk) return byCookie(request, about)
      if (response === 'fail') throw new Error('away')
      return response as null
    })
    assert.ok((await app.chat({ as: 'alice' })).status >= 400)
    isOk = true
    assert.is((await app.chat({ as: 'alice' })).status, 200, JSON.stringify(response))
  }
})

test('requests without a cache key are identified every time', async () => {
  for (const text of [undefined, '', '\ud800']) {
    const app = await openApp({
      identify: { resolve: () => ({ account: 'alice' }), cacheBy: () => text, ttlMs: 60_000 },
    })
    await app.chat()
    await app.chat()
    assert.is(app.requests.length, 2, JSON.stringify(text))
  }
})

test("a cacheBy that throws causes a 503, and one that doesn't return a string causes a 500", async () => {
  const throwing = await openApp({
    identify: {
      resolve: byCookie,
      cacheBy() {
        throw new Error('no cookie')
      },
      ttlMs: 1,
    },
  })
  assert.is(await getOutcome(await throwing.chat({ as: 'alice' })), '503 identity_unavailable')
  const odd = await openApp({ identify: { resolve: byCookie, cacheBy: () => 7 as unknown as string, ttlMs: 1 } })
  assert.is((await odd.chat({ as: 'alice' })).status, 500)
})

test('concurrent requests with different cookies never share an identity', {
  timeoutMs: 300_000,
}, async () => {
  const many = randomCases(100_000, 3_000)
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  for (const isKept of [true, false]) {
    const resolve: Identify = async (request, about) => {
      for (let turns = Math.random() * 3; turns > 0; turns--) await turn()
      return byCookie(request, about)
    }
    const app = await openApp({
      identify: isKept ? { resolve, cacheBy, ttlMs: 60_000 } : resolve,
      extend: [
        {
          name: 'who',
          areas: [
            {
              path: '/who',
              routes: [
                {
                  method: 'GET',
                  path: '/who',
                  run: (request) =>
                    new Response((request as unknown as { caller: { account?: { id: string } } }).caller.account?.id),
                },
              ],
            },
          ],
        },
      ],
    })
    const send = async (id: string) => (await (await app.send('/who', { as: id })).text()) === id
    for (let started = 0; started < many; started += 500) {
      const ids = Array.from({ length: 500 }, () => `u${Math.floor(Math.random() * many)}`)
      assert.equal(
        await Promise.all(ids.map(send)),
        ids.map(() => true),
      )
    }
  }
})
