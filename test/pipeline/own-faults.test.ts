import { assert, suite } from '../support/suite.ts'
import { chatAnswer, chatEvents } from './support/answers.ts'
import { json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('faults of the gateway itself')

test('what the gateway fails at while it reads an answer: whole to onError, once, and the next target is tried', async () => {
  for (const stream of [false, true]) {
    const start = (controller: ReadableStreamDefaultController) => {
      controller.enqueue('no bytes')
      controller.close()
    }
    const odd = () => new Response(new ReadableStream({ start }))
    const fetch = async (url: unknown) => (String(url).includes('one.test') ? odd() : json(chatAnswer()))
    const world = await openWorld({ fetch, combos: { chain: ['one/m', 'two/m'] } })
    const response = await world.chat({ model: 'chain', stream })
    await response.text()
    assert.match(response.headers.get('x-signalbox-attempts') ?? '', /^one\/m=500:internal;.*, two\/m=200$/)
    assert.is(world.told.errors.length, 1)
    assert.match(String(world.told.errors[0]), 'TypeError')
    assert.equal((await world.api.health.list()).health, [])
  }
})

test('what the gateway fails at while it translates a stream: whole to onError, and nothing against the target', async () => {
  const chunks = [
    ...chatEvents()
      .slice(0, 3)
      .map((text) => new TextEncoder().encode(text)),
    'no bytes',
  ].values()
  const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(chunks.next().value)
  const world = await openWorld({ fetch: async () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 })) })
  const response = await world.messages({ model: 'one/m', stream: true, messages: [{ role: 'user', content: 'Hi' }] })
  assert.match(await response.text(), 'Internal server error')
  assert.is(world.told.errors.length, 1)
  assert.match(String(world.told.errors[0]), 'TypeError')
  assert.equal([world.told.requests.at(-1)?.status, (await world.api.health.list()).health], [500, []])
})
