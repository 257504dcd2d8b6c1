import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createClient } from '../../src/client/client.ts'
import type { StoredRequest } from '../../src/features/usage/request-record.ts'
import type { Storage } from '../../src/types.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { openWorld, token, type WorldOptions } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('usage over HTTP')

async function open(options: WorldOptions = {}) {
  const world = await openWorld({
    usage: true,
    fetch: fakeUpstream(({ body, provider }) => {
      if (provider === 'three') return json({ error: { message: '=HYPERLINK("http://x.test")' } }, 500)
      return JSON.parse(body).stream ? sse(chatEvents()) : json(chatResponse())
    }),
    ...options,
  })
  const get = (path: string, headers: Record<string, string> = {}) =>
    world.gateway.fetch(`http://gateway${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } })
  const read = async (path: string) => (await get(path)).json()
  return { ...world, get, read }
}

test('usage totals and requests can be filtered, and an invalid parameter returns a 400 that names it', async () => {
  const { chat, read, get } = await open()
  for (let times = 0; times < 3; times++) await chat({})
  await chat({ model: 'nobody/nothing' })
  const { rows, totals } = await read('/api/usage?by=model,day&from=2026-01-01')
  assert.equal(
    rows.map((row: Record<string, unknown>) => [row.day, row.model, row.requests, row.failed, row.refused]),
    [
      ['2026-01-01', 'one/m', 3, 0, 0],
      ['2026-01-01', 'nobody/nothing', 1, 1, 1],
    ],
  )
  assert.is(totals.requests, 4)
  const { requests, before } = await read('/api/usage/requests?limit=2&status=200')
  assert.is(requests.length, 2)
  assert.is(before, requests[1].id)
  assert.is((await read(`/api/usage/requests?limit=2&status=200&before=${before}`)).requests.length, 1)
  assert.equal(await read(`/api/usage/requests/${before}`), { request: requests[1] })
  for (const [path, message] of [
    ['/api/usage?from=soon', '"from"'],
    ['/api/usage?by=key&by=model', '"by" can only appear once'],
    ['/api/usage?form=csv', '"form"'],
    ['/api/usage?format=xml', '"format"'],
    ['/api/usage?names=1', '"names"'],
    ['/api/usage?top=many', '"top"'],
    ['/api/usage/requests?limit=many', '"limit"'],
    ['/api/usage/requests?limit=1.5', '"limit"'],
    ['/api/usage/requests?status=0', '"status"'],
    [`/api/usage/requests/${before}?limit=1`, '"limit"'],
  ] as const) {
    const response = await get(path)
    assert.is(response.status, 400, path)
    assert.ok((await response.json()).error.includes(message), path)
  }
  assert.is((await get('/api/usage/requests/nothing')).status, 404)
})

test('the record of a rejected request has the error code and the reason', async () => {
  const { api, chat, read } = await open()
  const { id, key } = await api.keys.create({ name: 'paused' })
  await api.keys.update(id, { isActive: false })
  const rejected = await chat({}, { headers: { authorization: `Bearer ${key}` } })
  assert.is(rejected.status, 403)
  await chat({ model: 'nobody/nothing' })
  await chat({ model: 'three/m' })
  const { requests } = await read('/api/usage/requests?end=refused')
  assert.equal(
    requests.map((request: StoredRequest) => [request.keyId, request.status, request.error, request.attempts.length]),
    [
      [undefined, 404, 'MODEL_NOT_FOUND', 0],
      [id, 403, 'KEY_PAUSED', 0],
    ].sort((a, b) => (requests[0].error === a[2] ? -1 : requests[0].error === b[2] ? 1 : 0)),
  )
  const [paused] = (await read(`/api/usage/requests?keyId=${id}`)).requests
  assert.is(paused.reason, 'This API key is paused. Ask the operator of this gateway to resume it.')
  const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  assert.equal([paused.tokens, paused.costUsd], [nothing, 0])
  const [failed] = (await read('/api/usage/requests?end=failed')).requests
  assert.equal([failed.status, failed.attempts[0].outcome, failed.target.provider], [500, 'server', 'three'])
})

test('records contain no prompt, response, or credential', async () => {
  const { post, chat, read, api } = await open()
  const { key } = await api.keys.create({ name: 'a' })
  const secretly = { authorization: `Bearer ${key}`, 'x-forwarded-for': '203.0.113.77' }
  await chat({ messages: [{ role: 'user', content: 'a-very-private-prompt' }] }, { headers: secretly })
  await post('/v1/chat/completions', '{"model":"one/m","messages":[{"content":"a-very-private-prompt"', {
    headers: secretly,
  })
  await chat(
    { model: 'three/m', messages: [{ role: 'user', content: 'a-very-private-prompt' }] },
    { headers: secretly },
  )
  const text = JSON.stringify(await read('/api/usage/requests'))
  assert.is(JSON.parse(text).requests.length, 3)
  for (const part of ['private-prompt', key, '203.0.113.77', 'secret-of-one', 'Hello'])
    assert.not.ok(text.includes(part), part)
})

test('usage can be exported as CSV and JSON Lines, and no CSV cell is a formula', async () => {
  const { chat, get, api } = await open()
  await api.keys.create({ name: 'a' })
  for (const user of ['=1+1', '+a', '-b', '@c', '\td', '\re', 'quo"ted, and\nbroken', 'plain']) await chat({ user })
  const reply = await get('/api/usage?by=user,model&format=csv')
  assert.is(reply.headers.get('content-type'), 'text/csv; charset=utf-8')
  const lines = (await reply.text()).split('\r\n')
  assert.is(
    lines[0],
    'model,user,requests,failed,refused,unpriced,tokens.input,tokens.output,tokens.cacheRead,tokens.cacheWrite,tokens.reasoning,units,costUsd,firstByteMs.p50,firstByteMs.p95,firstByteMs.p99,durationMs.p50,durationMs.p95,durationMs.p99,tokens.inputImage,tokens.outputImage,tokens.inputAudio,tokens.outputAudio,tokens.cacheWriteLong,cacheSavedUsd',
  )
  const users = lines.slice(1, -1).map((line) => line.slice('one/m,'.length).replace(/,1,0,0,.*$/, ''))
  assert.equal(
    users.sort(),
    [`"'\re"`, '"quo""ted, and\nbroken"', "'\td", "'+a", "'-b", "'=1+1", "'@c", 'plain'].sort(),
  )

  const all = await (await get('/api/usage/requests', { accept: 'text/csv' })).text()
  assert.match(all, /^id,time,keyId,keyName,groupId,groupName,user,endpoint,/)
  const objects = (await (await get('/api/usage/requests', { accept: 'application/jsonl' })).text()).trim().split('\n')
  assert.is(objects.length, 8)
  assert.is(JSON.parse(objects[0] ?? '').endpoint, '/v1/chat/completions')
  const some = await get('/api/usage/requests?format=jsonl&limit=3')
  const page = (await some.text()).trim().split('\n')
  assert.is(page.length, 3)
  assert.is(some.headers.get('x-signalbox-before'), JSON.parse(page[2] ?? '').id)
  const one = await get(`/api/usage/requests/${JSON.parse(page[2] ?? '').id}?format=csv`)
  assert.is((await one.text()).trim().split('\r\n').length, 2)
  const { requests } = await (await get('/api/usage/requests?format=json', { accept: 'text/csv' })).json()
  assert.is(requests.length, 8)
})

test('usage CSV contains the names of keys and groups next to their IDs', async () => {
  const { chat, get, api } = await open()
  const group = await api.groups.create({ name: 'Team =A' })
  const key = await api.keys.create({ name: 'The app, live', group: group.id })
  const gone = await api.keys.create({ name: 'gone' })
  const by = (key: { key: string }) => ({ headers: { authorization: `Bearer ${key.key}` } })
  await chat({}, by(key))
  await chat({}, by(gone))
  await api.keys.delete(gone.id)
  const rows = (await (await get('/api/usage?by=key,group&format=csv')).text()).split('\r\n')
  assert.match(rows[0] ?? '', /^keyId,keyName,groupId,groupName,requests,/)
  assert.ok(
    rows.some((row) => row.startsWith(`${key.id},"The app, live",${group.id},Team =A,1,`)),
    rows.join('\n'),
  )
  assert.ok(
    rows.some((row) => row.startsWith(`${gone.id},,,,1,`)),
    rows.join('\n'),
  )
  const requests = (await (await get('/api/usage/requests?format=csv')).text()).split('\r\n')
  assert.ok(
    requests.some((row) => row.includes(`,${key.id},"The app, live",${group.id},Team =A,`)),
    requests.join('\n'),
  )
  const one = JSON.parse((await (await get('/api/usage/requests?format=jsonl&limit=1')).text()).trim())
  assert.is('keyName' in one, false)
  assert.match(await (await get(`/api/usage/requests/${one.id}?format=csv`)).text(), /keyName/)
})

test('a usage export contains more requests than a single page', async () => {
  const { chat, get } = await open()
  for (let times = 0; times < 1_250; times++) await chat({ model: 'nobody/x' })
  const lines = (await (await get('/api/usage/requests?format=jsonl')).text()).trim().split('\n')
  const ids = lines.map((line) => JSON.parse(line).id)
  assert.equal([ids.length, new Set(ids).size], [1_250, 1_250])
  assert.equal(ids, [...ids].sort().reverse())
})

test('the client SDK reads usage with the same arguments and results as in-process calls', async () => {
  const { chat, gateway, api } = await open()
  for (let times = 0; times < 3; times++) await chat({})
  const client = createClient({ baseUrl: 'http://gateway', token, fetch: gateway.fetch })
  const query = { from: '2026-01-01', by: ['model', 'hour'] } as const
  assert.equal(await client.usage.summary(query), await api.usage.summary(query))
  const page = await client.usage.requests({ limit: 2 })
  assert.equal(page, await api.usage.requests({ limit: 2 }))
  const id = page.requests[0]?.id ?? ''
  assert.equal(await client.usage.request(id), await api.usage.request(id))
})

test("a single call returns the dashboard's rows, names, series, and preceding period", async () => {
  const { chat, gateway, api, read } = await open()
  const { id, key } = await api.keys.create({ name: 'a' })
  await chat({}, { headers: { authorization: `Bearer ${key}` } })
  const query = { by: 'key', top: 5, series: 'hour', compare: 'before', names: true } as const
  const response = await read('/api/usage?by=key&top=5&series=hour&compare=before&names=true')
  assert.equal(response, await api.usage.summary(query))
  const client = createClient({ baseUrl: 'http://gateway', token, fetch: gateway.fetch })
  assert.equal(await client.usage.summary(query), response)
  assert.equal(
    [response.rows.length, response.series.length, response.before.totals.requests, response.names],
    [1, 1, 0, { [id]: 'a' }],
  )
})

test('reading usage fails with advice if the gateway stores none', async () => {
  const { get } = await open({ usage: false })
  for (const path of ['/api/usage', '/api/usage/requests', '/api/usage/live']) {
    const response = await get(path)
    assert.is(response.status, 409, path)
    assert.match((await response.json()).error, /does not record usage/)
  }
})

/** Reads the events of a stream as they arrive. */
function getEvents(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    async next(): Promise<string> {
      while (!text.includes('\n\n')) {
        const { value, done } = (await reader?.read()) ?? { done: true }
        if (done) return 'end'
        text += value
      }
      const end = text.indexOf('\n\n')
      const event = text.slice(0, end)
      text = text.slice(end + 2)
      return event
    },
    cancel: () => reader?.cancel(),
  }
}

test('the live stream contains finished requests, and comments while idle, until the gateway closes', async () => {
  const { chat, get, gateway, clock } = await open()
  await chat({})
  const response = await get('/api/usage/live')
  assert.is(response.headers.get('content-type'), 'text/event-stream')
  const events = getEvents(response)
  assert.is(await events.next(), ': live')
  const streamed = await chat({ stream: true })
  await streamed.text()
  const event = await events.next()
  assert.match(event, /^event: request\ndata: \{/)
  assert.is(JSON.parse(event.split('data: ')[1] ?? '').id, streamed.headers.get('x-signalbox-request-id'))
  const waiting = events.next()
  await clock.untilPending(2)
  await clock.advance(15_000)
  assert.is(await waiting, ': still here')
  await gateway.close()
  assert.is(await events.next(), 'end')
})

test('a slow reader of the live stream gets the number of requests that it missed', async () => {
  const { chat, get } = await open()
  const events = getEvents(await get('/api/usage/live'))
  assert.is(await events.next(), ': live')
  for (let times = 0; times < 1_200; times++) await chat({ model: 'nobody/x' })
  let requests = 0
  let dropped = 0
  while (requests + dropped < 1_200) {
    const event = await events.next()
    if (event.startsWith('event: dropped')) dropped += JSON.parse(event.split('data: ')[1] ?? '').requests
    else requests++
  }
  assert.ok(dropped > 100 && dropped <= 200, `${dropped}`)
  await events.cancel()
})

test("the live stream includes other instances' stored requests if the storage reports changes", async () => {
  const clock = fakeClock()
  const inner = memoryStorage({ clock })
  const listeners: Array<(key: string) => void> = []
  const storage: Storage = {
    ...inner,
    async set(key, value, options) {
      const done = await inner.set(key, value, options)
      for (const listener of listeners) listener(key)
      return done
    },
    watch(onChange) {
      listeners.push(onChange)
      return () => {}
    },
  }
  const first = await open({ storage, clock })
  const other = await open({ storage, clock, connections: [] })
  const events = getEvents(await first.get('/api/usage/live'))
  assert.is(await events.next(), ': live')
  const id = (await other.chat({})).headers.get('x-signalbox-request-id')
  const event = events.next()
  await clock.advance(1_000)
  assert.is(JSON.parse((await event).split('data: ')[1] ?? '').id, id)
  await events.cancel()
})

test('the live stream requires the admin token', async () => {
  const { gateway } = await open()
  const response = await gateway.fetch('http://gateway/api/usage/live')
  assert.is(response.status, 401)
})
