import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { toFeatures } from './support/steps.ts'
import { fakeUpstream, json } from './support/upstream.ts'

const test = suite("hedges that the gateway can't prepare")

const P95 = 20

/** Opens a hedging combo. Its first target responds within `P95` until it becomes slow, and preparing the second one then fails. */
async function openFailing() {
  const clock = fakeClock()
  const slow = Promise.withResolvers<Response>()
  let isWarm = false
  const upstream = fakeUpstream(async ({ provider }) => {
    if (isWarm && provider === 'one') return slow.promise
    await clock.sleep(P95)
    return json(chatResponse())
  })
  const errors: unknown[] = []
  const catalog = Object.fromEntries(
    ['one', 'two', 'three'].map((name) => [name, { baseUrl: `http://${name}.test/v1`, models: [{ id: 'm' }] }]),
  )
  const gateway = createGateway({
    ...{ storage: memoryStorage(), clock, fetch: upstream, catalog, logger: false },
    hooks: { onError: (error) => void errors.push(error) },
    extend: toFeatures({
      aroundRequest: [
        (request, next) => {
          request.log.targetRules.push((_, { provider }) => {
            if (isWarm && provider === 'two') throw new RangeError('too odd')
            return undefined
          })
          return next()
        },
      ],
    }),
  })
  for (const provider of Object.keys(catalog)) await gateway.api.connections.create({ provider, apiKey: 'k' })
  await gateway.api.combos.create({ name: 'all', models: ['one/m', 'two/m', 'three/m'], hedge: true })
  const { key } = await gateway.api.keys.create({ name: 'me' })
  const send = (model: string) =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    })
  const until = async (calls: number) => {
    while (upstream.calls.length < calls) await clock.advance(0)
  }
  for (let request = 1; request <= 25; request++) {
    const reply = send('one/m')
    await until(request)
    await clock.advance(P95)
    await (await reply).text()
  }
  isWarm = true
  const reply = send('all')
  await until(26)
  await clock.advance(2 * P95)
  return { clock, upstream, errors, reply, respond: (response: Response) => slow.resolve(response) }
}

test("if a hedge can't be prepared, the first attempt still returns its response", async () => {
  const { upstream, errors, reply, respond } = await openFailing()
  respond(json(chatResponse()))
  const response = await reply
  assert.equal([response.status, response.headers.get('x-signalbox-target')], [200, 'one/m'])
  await response.text()
  assert.equal([upstream.open, errors.map(String)], [0, ['RangeError: too odd']])
})

test("if a hedge can't be prepared and the first attempt fails, the request falls back", async () => {
  const { clock, upstream, reply, respond } = await openFailing()
  respond(json({ error: { message: 'Down' } }, 503))
  for (let turn = 0; turn < 50 && upstream.calls.length < 27; turn++) await clock.advance(0)
  await clock.advance(P95)
  assert.is((await reply).headers.get('x-signalbox-target'), 'three/m')
})
