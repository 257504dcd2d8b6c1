import { inspect } from 'node:util'
import { HttpResponse, http } from 'msw'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { jsonLog } from '../../src/features/observe/log.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/index.ts'
import { CLOUD_URL, openOverMsw, PROVIDER_KEY } from '../cloud/support/over-msw.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { type Call, fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { upstream } from '../support/upstream.ts'

const test = suite("stored guards' headers")

const SECRET = 'Bearer token-of-the-service-0123456789'
const SHORT = 'tiny'
const SHOWN = { authorization: '…6789', 'x-tenant': '…' }
const headers = { authorization: SECRET, 'x-tenant': SHORT }
const service = { name: 'service', kind: 'http' as const, url: 'https://guard.test/check', on: ['request' as const] }
const TOKEN = 'token-of-the-scrape-0123456789abcdef'

/** Opens a gateway with one provider and a stored guard that calls a service for every request. */
async function open(
  options: Partial<GatewayOptions> = {},
  verdict: (call: Call) => Response = () => json({ verdict: 'pass' }),
) {
  const storage = options.storage ?? memoryStorage()
  const fetch = fakeUpstream((call) => (call.provider === 'guard' ? verdict(call) : json(chatResponse())))
  const { calls } = fetch
  const gateway = createGateway({
    ...{ storage, fetch, logger: false, settings: { guards: ['service'] } },
    connections: { one: { provider: 'one', apiKey: 'k', baseUrl: 'https://one.test/v1' } },
    ...options,
  })
  const send = async () => {
    const { status } = await gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'one/m', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    return status
  }
  /** Returns a header of the last call to the guard service. */
  const getSent = (name = 'authorization') => calls.findLast(({ provider }) => provider === 'guard')?.headers.get(name)
  const readStorage = async () => (await storage.list('')).map(({ key, value }) => `${key} ${value}`).join('\n')
  return { gateway, api: gateway.api, storage, calls, send, getSent, readStorage }
}

async function getProblem(call: Promise<unknown>): Promise<string> {
  const error: { status?: number; message?: string } | undefined = await call.then(
    () => undefined,
    (error) => error,
  )
  return `${error?.status} ${error?.message}`
}

test('the guard service gets the headers, and API responses only show the end of each value', async () => {
  const { api, send, getSent, readStorage } = await open()
  assert.equal((await api.guards.create({ ...service, headers })).headers, SHOWN)
  assert.equal((await api.guards.get('service')).headers, SHOWN)
  assert.equal((await api.guards.list()).guards[0]?.headers, SHOWN)
  assert.is(await send(), 200)
  assert.is(getSent(), SECRET)
  assert.is(getSent('x-tenant'), SHORT)
  const stored = await readStorage()
  for (const part of [SECRET, 'token-of-the-service', btoa(SECRET).slice(4, 30), SHORT])
    assert.not.ok(stored.includes(part), part)
})

test('an update keeps the headers if they are omitted or sent back shortened, and null removes them', async () => {
  const { api, send, getSent } = await open()
  await api.guards.create({ ...service, headers })
  assert.equal((await api.guards.update('service', { timeoutMs: 500 })).headers, SHOWN)
  const { createdAt: _, updatedAt: __, ...shown } = await api.guards.get('service')
  await api.guards.update('service', shown)
  assert.is(await send(), 200)
  assert.is(getSent(), SECRET)
  const replaced = await api.guards.update('service', {
    headers: { authorization: '…6789', 'x-team': 'machine-learning' },
  })
  assert.equal(replaced.headers, { authorization: '…6789', 'x-team': '…ning' })
  assert.is(await send(), 200)
  assert.is(getSent(), SECRET)
  assert.is(getSent('x-team'), 'machine-learning')
  assert.is(getSent('x-tenant'), null)
  for (const none of [null, {}]) {
    await api.guards.update('service', { headers })
    assert.is((await api.guards.update('service', { headers: none })).headers, undefined)
    assert.is(await send(), 200)
    assert.is(getSent(), null)
  }
  await api.guards.update('service', { headers })
  assert.match(await getProblem(api.guards.update('service', { kind: 'pii', url: null })), /^400 .*"headers"/)
})

test('a guard service gets the headers when its guard is tested', async () => {
  const { api, getSent } = await open({}, () => json({ verdict: 'refuse', category: 'word' }))
  await api.guards.create({ ...service, headers })
  for (const trial of [{ guards: ['service'] }, { guard: { ...service, name: 'draft', headers } }]) {
    const { verdicts } = await api.guards.test({ text: 'Hi', ...trial })
    assert.equal(
      verdicts.map(({ verdict, category }) => [verdict, category]),
      [['refuse', 'word']],
    )
    assert.is(getSent(), SECRET)
  }
})

test("stored headers aren't sent to another URL", async () => {
  const { api, storage, calls } = await open()
  await api.guards.create({ ...service, headers })
  const url = 'https://other.test/check'
  assert.match(
    await getProblem(api.guards.update('service', { url })),
    /^400 "url" changes where .* send "headers" again/,
  )
  assert.match(await getProblem(api.guards.put({ ...service, url })), /^400 "url" changes where/)
  assert.match(
    await getProblem(api.guards.update('service', { url, headers: SHOWN })),
    /^400 .* must be the complete value/,
  )
  const { value = '' } = (await storage.get('guards/service')) ?? {}
  const { order, record } = JSON.parse(value)
  await storage.set('guards/service', JSON.stringify({ order, record: { ...record, url } }))
  const other = await open({ storage })
  assert.is(await other.send(), 503)
  const { name, kind } = service
  for (const put of [
    { name, kind },
    { name, kind, headers },
  ])
    assert.match(await getProblem(other.api.guards.put(put)), /^400 .*headers/)
  assert.equal([...calls, ...other.calls], [])
  await other.api.guards.put({ ...service, headers })
  assert.is(await other.send(), 200)
  assert.is(other.getSent(), SECRET)
})

test('sealed headers copied from another guard are rejected', async () => {
  const { api, storage } = await open()
  await api.guards.create({ ...service, headers })
  await api.guards.create({ ...service, name: 'second', headers: { authorization: 'Bearer of-the-second-service' } })
  const read = async (name: string) => JSON.parse((await storage.get(`guards/${name}`))?.value ?? '')
  const [first, second] = [await read('service'), await read('second')]
  first.record.sealedHeaders = second.record.sealedHeaders
  await storage.set('guards/service', JSON.stringify(first))
  const { send, api: reopened, calls } = await open({ storage })
  assert.is(await send(), 503)
  assert.equal(calls, [])
  assert.match((await reopened.guards.get('service')).error ?? '', /not written by a gateway with this secret/)
  assert.match(
    await getProblem(reopened.guards.update('service', { kind: 'http', mode: 'watch' })),
    /^400 The credential cannot be decrypted/,
  )
})

test('putting an unchanged guard writes nothing, and a changed header takes effect', async () => {
  const { api, send, getSent } = await open()
  const put = (own: Record<string, string>) => api.guards.put({ ...service, headers: own })
  const { updatedAt } = await put(headers)
  assert.is((await put(headers)).updatedAt, updatedAt)
  assert.is((await put(SHOWN)).updatedAt, updatedAt)
  assert.is((await api.guards.put(service)).updatedAt, updatedAt)
  assert.is.not((await put({ ...headers, authorization: 'Bearer another' })).updatedAt, updatedAt)
  assert.is(await send(), 200)
  assert.is(getSent(), 'Bearer another')
})

test('rotating the secret keeps the headers, and the old secret is no longer needed', async () => {
  const { ownSecret: _, ...storage } = memoryStorage()
  const [old, next] = ['an old secret, as long as secrets must be', 'a new secret, as long as secrets must be']
  const first = await open({ storage, secret: old })
  await first.api.guards.create({ ...service, headers })
  const both = [
    { version: 'new', value: next },
    { version: 'default', value: old },
  ]
  for (const secret of [both, both.slice(0, 1)]) {
    const { send, getSent, api } = await open({ storage, secret })
    assert.is(await send(), 200)
    assert.is(getSent(), SECRET)
    assert.equal((await api.guards.get('service')).headers, SHOWN)
  }
  const { send: sendRequest, calls } = await open({ storage, secret: old })
  assert.is.not(await sendRequest(), 200)
  assert.equal(calls, [])
})

test('the first secret for a store re-encrypts its headers', async () => {
  const { ownSecret: _, ...storage } = memoryStorage()
  const first = await open({ storage })
  await first.api.guards.create({ ...service, headers })
  const read = async () => JSON.parse((await storage.get('guards/service'))?.value ?? '').record.sealedHeaders
  const before = await read()
  const { send, getSent, api } = await open({ storage, secret: 'a new secret, as long as secrets must be' })
  assert.is(await send(), 200)
  assert.is(getSent(), SECRET)
  assert.equal((await api.guards.get('service')).headers, SHOWN)
  assert.is((await api.guards.get('service')).error, undefined)
  assert.is.not(await read(), before)
})

test('cloud sync transfers the headers, and each side encrypts them', async () => {
  const sent: Array<string | null> = []
  const fetch = upstream(
    http.post(service.url, ({ request }) => {
      sent.push(request.headers.get('authorization'))
      return HttpResponse.json({ verdict: 'pass' })
    }),
    http.post('https://api.openai.com/v1/chat/completions', () => HttpResponse.json(chatResponse())),
  )
  const ends = openOverMsw({ cloud: { fetch } })
  const { api } = ends.home
  await api.connections.put({ id: 'openai', provider: 'openai', apiKey: PROVIDER_KEY })
  await api.guards.create({ ...service, headers })
  const { key } = await api.keys.create({ name: 'app', guards: ['service'] })
  await api.settings.update({ cloudUrl: CLOUD_URL })
  await api.cloud.enable()
  const cloud = (await ends.tenant()).api
  assert.equal(await cloud.guards.list(), await api.guards.list())
  assert.equal((await cloud.guards.get('service')).headers, SHOWN)
  assert.is((await ends.chat(key)).status, 200)
  assert.equal(sent, [SECRET])
  await cloud.guards.update('service', { headers: { authorization: 'Bearer of-the-cloud-side' } })
  assert.equal(await api.cloud.sync(), { success: true, conflicts: [] })
  assert.equal((await api.guards.get('service')).headers, { authorization: '…side' })
  const stored = [...(await ends.homeStorage.list('')), ...(await ends.cloudStorage.list(''))]
  const messages = ends.recorded.flatMap(({ body, response }) => [body, response])
  assert.not.match(JSON.stringify([stored, messages]), /token-of-the-service|of-the-cloud-side/)
  await ends.close()
})

test('headers on guards defined in code are sent, shown shortened, and updated by a reload', async () => {
  const { name: _, ...record } = service
  const { gateway, api, send, getSent, readStorage } = await open({ guards: { service: { ...record, headers } } })
  assert.is(await send(), 200)
  assert.is(getSent(), SECRET)
  assert.equal((await api.guards.get('service')).headers, SHOWN)
  assert.not.match(await readStorage(), /token-of-the-service/)
  await gateway.reload({
    connections: { one: { provider: 'one', apiKey: 'k', baseUrl: 'https://one.test/v1' } },
    guards: { service: { ...record, headers: { authorization: 'Bearer of-the-reload' } } },
    settings: { guards: ['service'] },
  })
  assert.is(await send(), 200)
  assert.is(getSent(), 'Bearer of-the-reload')
})

test('no log, hook, metric, record, or error contains a header value', async () => {
  const written: unknown[] = []
  const note = (...values: unknown[]) => void written.push(values)
  for (const verdict of [
    () => json({ verdict: 'refuse', category: 'word' }),
    () => new Response(SECRET, { status: 401, headers: { 'x-echo': SECRET } }),
    () => json({ authorization: SECRET }),
    () => {
      throw new TypeError('fetch failed')
    },
  ]) {
    const { gateway, api, send, readStorage } = await open(
      {
        logger: { debug: note, info: note, warn: note, error: note },
        hooks: { onRequest: note, onAttempt: note, onUsage: note, onError: note },
        observe: [prometheus({ token: TOKEN }), jsonLog(note)],
      },
      verdict,
    )
    await api.guards.create({ ...service, headers })
    assert.is.not(await send(), 200)
    const init = { headers: { authorization: `Bearer ${TOKEN}` } }
    note(await (await gateway.fetch('http://gateway/metrics', init)).text(), await api.usage.requests())
    note(await getProblem(api.guards.create({ ...service, name: 'x', headers: { authorization: `${SECRET}\n` } })))
    await gateway.close()
    note(await readStorage())
  }
  assert.not.match(inspect(written, { depth: 20, maxArrayLength: null, maxStringLength: null }), /token-of-the-service/)
})

test('invalid headers are rejected over HTTP with advice, without exposing their values', async () => {
  const token = 'management-token-of-forty-characters-000'
  const { gateway, api } = await open({ management: { token } })
  const create = async (input: unknown) => {
    const response = await gateway.fetch('http://gateway/api/guards', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...service, headers: input }),
    })
    return `${response.status} ${await response.text()}`
  }
  const value = 's3cret'
  const cases: ReadonlyArray<readonly [unknown, RegExp]> = [
    ['text', /must be an object/],
    [[value], /must be an object/],
    [7, /must be an object/],
    [null, /must be an object/],
    [{ authorization: 7 }, /headers\.authorization.* must be a string/],
    [{ authorization: null }, /headers\.authorization.* must be a string/],
    [{ authorization: [value] }, /headers\.authorization.* must be a string/],
    [{ authorization: '' }, /headers\.authorization.* must be the complete value/],
    [{ authorization: '  ' }, /headers\.authorization.* must be the complete value/],
    [{ authorization: `${value}\r\nx-more: 1` }, /headers\.authorization.* control characters/],
    [{ authorization: `${value}\u0000` }, /headers\.authorization.* control characters/],
    [{ authorization: `${value}é` }, /headers\.authorization.* must be the complete value: one line of ASCII/],
    [{ authorization: `${value}🔑` }, /headers\.authorization.* must be the complete value: one line of ASCII/],
    [{ authorization: '…cret' }, /headers\.authorization.* must be the complete value/],
    [{ authorization: value.repeat(1_400) }, /headers\.authorization.* longer than 8192/],
    [{ a: value.repeat(1_100), b: value.repeat(1_100) }, /headers.* must not be longer than 12000 characters in total/],
    [{ 'x y': value }, /headers.* has an invalid field name/],
    [{ 'x\r\ny': value }, /headers.* has an invalid field name/],
    [{ ключ: value }, /headers.* has an invalid field name/],
    [{ '': value }, /headers.* has an invalid field name/],
    [{ ['x'.repeat(101)]: value }, /headers.* has an invalid field name/],
    [JSON.parse(`{"__proto__":"${value}"}`), /headers.* has an invalid field name/],
    [{ authorization: value, Authorization: value }, /headers\.Authorization.* is already set; omit it/],
    [
      Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x-${index}`, value])),
      /must not have more than 20 fields/,
    ],
    ...['Host', 'content-length', 'Content-Type', 'transfer-encoding', 'connection', 'Proxy-Authorization', 'TE'].map(
      (name) => [{ [name]: value }, new RegExp(`headers\\.${name}.* is already set; omit it`)] as const,
    ),
  ]
  for (const [input, problem] of cases) {
    const result = await create(input)
    assert.match(result, /^400 /)
    assert.match(result, problem)
    assert.not.match(result, value)
  }
  assert.equal((await api.guards.list()).guards, [])
  assert.match(await create({ ...headers, authorization: ` ${SECRET}  ` }), /^201 .*"…6789"/)
  assert.match(
    await getProblem(api.guards.create({ name: 'w', kind: 'pii', headers })),
    /^400 "headers" is not an option of the kind "pii"/,
  )
})
