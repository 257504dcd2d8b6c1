import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse } from './support/responses.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('model request records')

const respond = () =>
  fakeUpstream(({ body, provider }) => {
    if (provider === 'three') return json({ error: { message: 'no' } }, 500)
    return JSON.parse(body).stream ? sse(chatEvents()) : json(chatResponse())
  })

const getId = (response: Response) => response.headers.get('x-signalbox-request-id')

test('every model endpoint response, including errors, returns the ID of its request record', async () => {
  const world = await openWorld({ fetch: respond(), limits: { maxBodyBytes: 1_000 } })
  const asking = [
    () => world.chat({}),
    () => world.chat({ stream: true }),
    () => world.messages({ model: 'one/m', messages: [{ role: 'user', content: 'Hi' }] }),
    () => world.chat({ model: 'three/m' }),
    () => world.chat({ model: 'nobody/nothing' }),
    () => world.post('/v1/messages', 'no json'),
    () => world.chat({ padding: 'x'.repeat(2_000) }),
    () => world.chat({}, { headers: { 'x-signalbox-timeout-ms': 'soon' } }),
    () => world.chat({}, { headers: { 'content-encoding': 'gzip' } }),
    () => world.post('/v1beta/models/one/m:countTokens', { contents: [{ parts: [{ text: 'Hi' }] }] }),
  ]
  const ids: Array<string | null> = []
  for (const send of asking) {
    const reply = await send()
    await reply.text()
    ids.push(getId(reply))
  }
  assert.equal(
    ids,
    world.recorded.requests.map(({ id }) => id),
  )
  assert.is(new Set(ids).size, asking.length)
  assert.equal(
    world.recorded.requests.map(({ status, end, error }) => `${status} ${end} ${error ?? '-'}`),
    [
      '200 complete -',
      '200 complete -',
      '200 complete -',
      '500 failed -',
      '404 refused MODEL_NOT_FOUND',
      '400 refused INVALID_JSON',
      '413 refused PAYLOAD_TOO_LARGE',
      '400 refused INVALID_REQUEST',
      '415 refused UNSUPPORTED_MEDIA_TYPE',
      '200 complete -',
    ],
  )
})

test('a request rejected because of its key is recorded, with the key ID if known', async () => {
  const world = await openWorld({ fetch: respond() })
  const { key, id } = await world.api.keys.create({ name: 'team' })
  await world.api.keys.update(id, { isActive: false })
  await world.api.settings.update({ requireApiKey: true })
  const sendChat = (authorization?: string) => world.chat({}, { headers: authorization ? { authorization } : {} })
  const replies = [await sendChat(), await sendChat('Bearer sbx_unknown'), await sendChat(`Bearer ${key}`)]
  const ids = replies.map(getId)
  assert.equal(
    world.recorded.requests.map((request) => [
      request.id,
      request.status,
      request.end,
      request.error,
      request.keyId,
      request.path,
      request.attempts,
    ]),
    [
      [ids[0], 401, 'refused', 'KEY_MISSING', undefined, '/v1/chat/completions', []],
      [ids[1], 401, 'refused', 'KEY_UNKNOWN', undefined, '/v1/chat/completions', []],
      [ids[2], 403, 'refused', 'KEY_PAUSED', id, '/v1/chat/completions', []],
    ],
  )
})

test('listings, probes, preflights, and unknown paths have no request ID or record', async () => {
  const world = await openWorld({ allowedOrigins: ['https://page.test'] })
  const headers = { origin: 'https://page.test', 'access-control-request-method': 'POST' }
  for (const [method, path] of [
    ['GET', '/v1/models'],
    ['GET', '/v1/models/one/m'],
    ['HEAD', '/v1/chat/completions'],
    ['OPTIONS', '/v1/chat/completions'],
    ['POST', '/v1/nothing'],
    ['POST', '/v1/models/%'],
    ['GET', '/api/keys'],
    ['GET', '/health'],
  ] as const)
    assert.is(getId(await world.gateway.fetch(`http://gateway${path}`, { method, headers })), null, `${method} ${path}`)
  assert.equal(world.recorded.requests, [])
})

test('requests rejected by the concurrency limit or a closed gateway each have a record', async () => {
  const world = await openWorld({ fetch: respond(), limits: { maxParallelRequests: 1 } })
  const streaming = await world.chat({ stream: true })
  const busy = await world.chat({})
  await streaming.text()
  await world.gateway.close()
  const closed = await world.chat({})
  assert.equal([busy.status, closed.status], [503, 503])
  assert.equal(
    world.recorded.requests.map(({ error, end }) => [error, end]),
    [
      ['TOO_BUSY', 'refused'],
      [undefined, 'complete'],
      ['CLOSED', 'refused'],
    ],
  )
})

test('a broken stream is recorded as cut, and a client disconnect as aborted', async () => {
  const events = chatEvents().slice(0, 3)
  const world = await openWorld({ fetch: fakeUpstream((_, index) => sse(events, index === 1 ? 'error' : 'hang')) })
  await (await world.chat({ stream: true })).text()
  const reader = (await world.chat({ stream: true })).body?.getReader()
  await reader?.read()
  await reader?.cancel()
  assert.equal(
    world.recorded.requests.map(({ end }) => end),
    ['cut', 'aborted'],
  )
  assert.is(world.recorded.requests[0]?.attempts[0]?.outcome, 'answered')
})
