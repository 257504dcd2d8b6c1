import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'
import { readExamples } from './examples.ts'
import { openExtended } from './world.ts'

const test = suite('examples in the guide to extending the gateway')

test('the example cache serves an identical request with the same key without calling a provider', async () => {
  const { createCache } = await readExamples()
  const { chat, upstream, records, addKey } = await openExtended([createCache()])
  const first = await chat({ temperature: 1 })
  const again = await chat({ temperature: 1 })
  assert.equal(await again.json(), await first.json())
  assert.is(again.headers.get('x-cache'), 'hit')
  assert.is(upstream.calls.length, 1)
  await chat({ temperature: 0 })
  await chat({ temperature: 1 }, await addKey('other'))
  await (await chat({ temperature: 1, stream: true })).text()
  await (await chat({ temperature: 1, stream: true })).text()
  assert.is(upstream.calls.length, 5)
  assert.equal(
    records.map(({ servedBy }) => servedBy),
    ['provider', 'cache', 'provider', 'provider', 'provider', 'provider'],
  )
})

test("a cache hit counts toward its key's limits, and limits are checked before the cache", async () => {
  const { createCache } = await readExamples()
  const { chat, addKey } = await openExtended([createCache()])
  const limited = await addKey('limited', { requests: { day: 2 } })
  const statuses: number[] = []
  for (let request = 0; request < 3; request++) statuses.push((await chat({}, limited)).status)
  assert.equal(statuses, [200, 200, 429])
})

test('the example word filter masks a word in every string of a request, in each format', async () => {
  const { createWordFilter } = await readExamples()
  const { post, upstream } = await openExtended([createWordFilter('SESAME')])
  await post('/v1/chat/completions', { messages: [{ role: 'user', content: 'Open SESAME' }], user: 'SESAME' })
  await post('/v1/messages', { max_tokens: 9, system: 'Say SESAME', messages: [{ role: 'user', content: 'SESAME' }] })
  await post('/v1/responses', { input: 'SESAME' })
  assert.is(upstream.calls.length, 3)
  for (const { body } of upstream.calls) {
    assert.not.match(body, 'SESAME')
    assert.match(body, '******')
  }
  const rejected = await post('/v1/chat/completions', { model: 'SESAME/m' })
  assert.is(rejected.status, 400)
  assert.match((await rejected.json()).error.message, 'SESAME')
})

test('the example word filter masks a word in streaming and non-streaming responses', async () => {
  const { createWordFilter } = await readExamples()
  const { chat } = await openExtended([createWordFilter('Hello')], chatEvents('Hell no, Hello there'))
  assert.is((await (await chat({})).json()).choices[0].message.content, '*****')
  const text = await (await chat({ stream: true })).text()
  const output = Array.from(text.matchAll(/"content":"([^"]*)"/g), ([, piece]) => piece).join('')
  assert.is(output, 'Hell no, ***** there')
})

test('the example route needs a key, counts toward limits, and appears in records and the OpenAPI document', async () => {
  const { hello } = await readExamples()
  const { gateway, send, addKey, records } = await openExtended([hello])
  const key = await addKey('limited', { requests: { day: 2 } })
  assert.is((await send('GET', '/hello/ann', undefined, 'none')).status, 401)
  const greeted = await send('GET', '/hello/ann', undefined, key)
  assert.equal(await greeted.json(), { hello: 'ann', from: 'limited' })
  assert.is(greeted.headers.get('x-signalbox-request-id')?.length, 36)
  const many = await send('POST', '/hello', { names: ['a', 'b'] }, key)
  assert.equal(await many.json(), { hello: 'a, b' })
  assert.is((await send('GET', '/hello/ann', undefined, key)).status, 429)
  const bad = await send('POST', '/hello', { names: 1 })
  assert.equal([bad.status, (await bad.json()).error.message], [400, '"names" must be a list.'])
  assert.is((await send('PUT', '/hello', {})).status, 405)
  assert.is((await send('GET', '/hello/there/nobody')).status, 404)
  assert.is(gateway.matches('http://gateway/hello/there/nobody'), true)
  assert.is(gateway.matches('http://gateway/helloworld'), false)
  assert.equal(
    records.map(({ path, status, servedBy }) => [path, status, servedBy]),
    [
      ['/hello/ann', 401, 'gateway'],
      ['/hello/ann', 200, 'gateway'],
      ['/hello', 200, 'gateway'],
      ['/hello/ann', 429, 'gateway'],
      ['/hello', 400, 'gateway'],
    ],
  )
  const { paths } = await gateway.api.openapi()
  assert.equal(Object.keys(paths['/hello/{name}'] ?? {}), ['get'])
  assert.equal(
    [paths['/hello']?.post?.summary, paths['/hello']?.post?.tags],
    ['Say hello to everyone in a list', ['hello']],
  )
})

test('usage records and metrics include requests to feature routes', async () => {
  const { hello } = await readExamples()
  const { gateway, send, scrape } = await openExtended([hello])
  await send('GET', '/hello/ann')
  await new Promise((resolve) => setTimeout(resolve, 5)) // the list excludes the current millisecond
  const { requests } = await gateway.api.usage.requests()
  assert.equal(
    requests.map(({ endpoint, status, end }) => [endpoint, status, end]),
    [['/hello/:name', 200, 'complete']],
  )
  assert.match(await scrape(), /^http_server_request_duration_seconds_count\{.*http_route="\/hello\/:name".*\} 1$/m)
})

test('a gateway with the example features still serves models as before', async () => {
  const { createCache, createWordFilter, hello } = await readExamples()
  const { chat } = await openExtended([createCache(), createWordFilter('SESAME'), hello])
  assert.equal(await (await chat({})).json(), chatResponse())
  assert.is((await (await chat({ stream: true })).text()).includes('[DONE]'), chatEvents().join('').includes('[DONE]'))
})

test('the clock example streams until the client disconnects', async () => {
  const { streamTime } = await readExamples()
  const { send, records } = await openExtended([
    { name: 'clock', areas: [{ path: '/clock', routes: [{ method: 'GET', path: '/clock', run: streamTime }] }] },
  ])
  const response = await send('GET', '/clock')
  const reader = response.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  assert.match(new TextDecoder().decode(value), /^data: \d{4}-/)
  await reader?.cancel()
  assert.is(records[0]?.end, 'aborted')
})
