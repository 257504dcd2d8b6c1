import { assert, suite } from '../support/suite.ts'
import { fault } from './support/fault.ts'
import { chatResponse, type ErrorAnswer } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('the attempts header')

test('the attempts header tells apart two connections to the same provider by ID', async () => {
  const upstream = fakeUpstream(() => json({ error: { message: 'down' } }, 500))
  const connections = [{ provider: 'one', name: 'a' }, { provider: 'one', name: 'b' }, 'two']
  const world = await openWorld({ fetch: upstream, connections, combos: { chain: ['one/m', 'two/m'] } })
  const [a, b] = (await world.api.connections.list()).connections.map(({ id }) => id.slice(0, 8))
  const response = await world.chat({ model: 'chain' })
  assert.is(
    response.headers.get('x-signalbox-attempts'),
    `one/m=500:server;connection=${a};via=chain:fallback, one/m=500:server;connection=${b}, two/m=500:server`,
  )
  const { error }: ErrorAnswer = await response.json()
  assert.is(
    error.message,
    `All 3 targets failed. one/m (connection ${a}): down. one/m (connection ${b}): down. two/m: down.`,
  )
})

test('delimiters in a model name are escaped in the attempts header', async () => {
  const upstream = fakeUpstream(() => json({ error: { message: 'down' } }, 500))
  const world = await openWorld({ fetch: upstream, combos: { chain: ['one/a=200;via=b, two/c'] } })
  const list = (await world.chat({ model: 'chain' })).headers.get('x-signalbox-attempts') ?? ''
  assert.is(list, 'one/a=200%3Bvia=b%2C%20two/c=500:server;via=chain:fallback')
})

const longNames = (count: number) =>
  Array.from({ length: count }, (_, index) => `one/${'long-name-'.repeat(20)}${index}`)

test('the attempts header is at most 2 kB long, and states how many attempts were omitted', async () => {
  const upstream = fakeUpstream(() => json({ error: { message: 'x'.repeat(500) } }, 500))
  const world = await openWorld({ fetch: upstream, combos: { chain: longNames(20) }, limits: { maxAttempts: 20 } })
  const response = await world.chat({ model: 'chain' })
  const list = response.headers.get('x-signalbox-attempts') ?? ''
  const shown = list.match(/=500:server/g)?.length ?? 0
  assert.ok(list.length > 1_700 && list.length < 2_100, `${list.length}`)
  assert.ok(list.endsWith(`, left-out=${upstream.calls.length - shown}, stopped=retry-budget`), list)
})

test('the attempts header includes the target that responded, even if many targets were skipped', async () => {
  const upstream = fakeUpstream(({ provider }) =>
    provider === 'one' ? fault(429, 'full', { 'retry-after': '50' })() : json(chatResponse()),
  )
  const world = await openWorld({ fetch: upstream, combos: { chain: [...longNames(60), 'two/m'] } })
  await world.chat({ model: 'chain' })
  const response = await world.chat({ model: 'chain' })
  const list = response.headers.get('x-signalbox-attempts') ?? ''
  const shown = list.match(/=skipped:rate-limit/g)?.length ?? 0
  assert.ok(list.length < 2_000, `${list.length}`)
  assert.ok(list.endsWith(`, two/m=200, left-out=${60 - shown}`), list)
})
