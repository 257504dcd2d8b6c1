import { toWorkersHandler } from '../../adapters/mount/workers.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('a gateway in a module worker')
const context = { waitUntil() {} }
const request = () => new Request('https://worker.example/v1/models')

test('a gateway in a module worker is created only once, even for concurrent requests', async () => {
  const opened: unknown[] = []
  const worker = toWorkersHandler(async (env: { NAME: string }) => {
    opened.push(env)
    return { fetch: async () => new Response(env.NAME) }
  })
  const env = { NAME: 'bound' }
  const responses = await Promise.all([1, 2, 3].map(() => worker.fetch(request(), env, context)))
  await worker.fetch(request(), env, context)
  assert.is(await responses[2]?.text(), 'bound')
  assert.equal(opened, [env])
})

test('a gateway in a module worker passes on the request, the bindings, and the context', async () => {
  let seen: unknown[] = []
  const worker = toWorkersHandler<object>(() => ({
    async fetch(...input) {
      seen = input
      return new Response()
    },
  }))
  const given = [request(), {}, context] as const
  await worker.fetch(...given)
  assert.ok(seen.every((value, index) => value === given[index]) && seen.length === 3)
})

test('if creating the gateway fails, so does the current request, and the next one retries', async () => {
  for (const fail of [
    () => {
      throw new Error('no binding')
    },
    () => Promise.reject(new Error('no binding')),
  ]) {
    let tries = 0
    const worker = toWorkersHandler(() => {
      tries += 1
      return tries === 1 ? fail() : { fetch: async () => new Response('open') }
    })
    assert.is((await worker.fetch(request(), {}, context).catch((error) => error)).message, 'no binding')
    assert.is(await (await worker.fetch(request(), {}, context)).text(), 'open')
  }
})
