import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { measures } from '../../src/features/observe/measures.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { metered } from '../gate/support/metered-providers.ts'
import { json } from '../pipeline/support/upstream.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { ADMIN, type ObservedWorld, openObserved, read } from './world.ts'

const test = suite('metrics for Prometheus')

const TOKEN = 'token-of-the-scrape-0123456789abcdef'

async function scrape({ gateway }: Pick<ObservedWorld, 'gateway'>, headers: Record<string, string> = {}) {
  const reply = await gateway.fetch('http://gateway/metrics', {
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
  })
  return { status: reply.status, type: reply.headers.get('content-type'), text: await reply.text() }
}

/** Returns the value of the sample with these labels. */
function sample(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const line = text
    .split('\n')
    .find(
      (item) =>
        item.startsWith(`${name}{`) &&
        Object.entries(labels).every(([key, value]) => item.includes(`${key}="${value}"`)),
    )
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1))
}

const target = { gen_ai_provider_name: 'one', gen_ai_request_model: 'm' }

test('requests, attempts, tokens, and costs are counted by target', async () => {
  const world = await openObserved([prometheus({ token: TOKEN })], metered({ input: 100, output: 50 }, { tokens: 0 }))
  await read(world.chat())
  await read(world.chat({ stream: true }))
  const { text } = await scrape(world)
  assert.is(sample(text, 'gen_ai_client_inference_duration_seconds_count', target), 2)
  assert.is(sample(text, 'gen_ai_client_inference_time_to_first_chunk_seconds_count', target), 1)
  assert.is(sample(text, 'gen_ai_client_inference_usage_input_tokens_total', target), 200)
  assert.is(sample(text, 'gen_ai_client_inference_usage_output_tokens_total', target), 100)
  assert.is(sample(text, 'signalbox_attempts_total', { ...target, signalbox_outcome: 'answered' }), 2)
  assert.is(sample(text, 'signalbox_usage_cost_usd_total', target), (2 * (100 * 1 + 50 * 10)) / 1e6)
  assert.is(
    sample(text, 'http_server_request_duration_seconds_count', {
      http_route: '/v1/chat/completions',
      http_response_status_code: '200',
    }),
    2,
  )
  assert.is(sample(text, 'signalbox_requests_active', { gen_ai_operation_name: 'chat' }), 0)
  assert.is(sample(text, 'signalbox_streams_active', { gen_ai_operation_name: 'chat' }), 0)
})

test('a thousand accounts add no time series', async () => {
  const world = await openObserved([prometheus({ token: TOKEN })])
  const send = async (account: string) => {
    const { fetch } = world.gateway.as({ account })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const body = JSON.stringify({ model: 'one/m', messages: [], user: account })
    await read(fetch('http://gateway/v1/chat/completions', { ...init, body }))
  }
  const listSeries = async () => (await scrape(world)).text.split('\n').map((line) => line.replace(/ [^ ]*$/, ''))
  await send('user_0')
  const before = await listSeries()
  for (let index = 1; index < 1_000; index++) await send(`user_${index}`)
  assert.equal(await listSeries(), before)
})

test('a fallback is counted by its reason, and by whether the client got a response', async () => {
  const good = metered({}, { tokens: 0 })
  const world = await openObserved([prometheus({ token: TOKEN })], (call, index) =>
    call.provider === 'one' ? json({ error: { message: 'down' } }, 503) : good(call, index),
  )
  await read(world.chat({ model: 'fast' }))
  const { text } = await scrape(world)
  assert.is(
    sample(text, 'signalbox_fallbacks_total', {
      gen_ai_provider_name: 'one',
      signalbox_reason: 'server',
      signalbox_recovered: 'true',
    }),
    1,
  )
  assert.is(sample(text, 'gen_ai_client_inference_duration_seconds_count', { ...target, error_type: '503' }), 1)
  assert.is(sample(text, 'signalbox_request_attempts_sum', { signalbox_model: 'fast' }), 2)
})

test('rejections are counted by reason', async () => {
  const world = await openObserved([prometheus({ token: TOKEN })])
  await world.gateway.api.settings.update({ requireApiKey: true })
  await read(world.chat())
  const { id, key } = await world.gateway.api.keys.create({ name: 'paused' })
  await world.gateway.api.keys.update(id, { isActive: false })
  await read(world.chat({}, { authorization: `Bearer ${key}` }))
  const limited = await world.gateway.api.keys.create({ name: 'limited', limits: { requests: { hour: 1 } } })
  for (let index = 0; index < 2; index++) await read(world.chat({}, { authorization: `Bearer ${limited.key}` }))
  const { text } = await scrape(world)
  assert.is(sample(text, 'signalbox_requests_refused_total', { signalbox_reason: 'rate' }), 1)
  assert.is(sample(text, 'signalbox_requests_refused_total', { signalbox_reason: 'key' }), 1)
  assert.is(sample(text, 'signalbox_requests_refused_total', { signalbox_reason: 'paused' }), 1)
})

test('targets in cooldown are reported', async () => {
  const world = await openObserved([prometheus({ token: TOKEN })], () =>
    json({ error: { message: 'no such key' } }, 401),
  )
  await read(world.chat())
  const { text } = await scrape(world)
  assert.is(sample(text, 'signalbox_target_state', { ...target, signalbox_state: 'cooling' }), 1)
  assert.is(sample(text, 'signalbox_target_state', { ...target, signalbox_state: 'ok' }), 0)
})

test('the age of the prices is reported if the catalog has a date', async () => {
  const clock = fakeClock()
  const open = (asOf: object) =>
    createGateway({
      ...{ storage: memoryStorage({ clock }), clock, logger: false, observe: [prometheus({ token: TOKEN })] },
      catalog: { one: { baseUrl: 'http://one.test/v1', ...asOf } },
    })
  const getAge = async (gateway: Gateway) =>
    /^signalbox_catalog_age_seconds (\d+)$/m.exec((await scrape({ gateway })).text)?.[1]
  const asOf = new Date(clock.now() - 3 * 24 * 60 * 60_000).toISOString().slice(0, 10)
  assert.is(await getAge(open({ asOf })), `${(clock.now() - Date.parse(asOf)) / 1_000}`)
  assert.is(await getAge(open({})), undefined)
})

test('the used share of each gateway and group limit is reported', async () => {
  const world = await openObserved([prometheus({ token: TOKEN })], metered({ input: 100, output: 50 }, { tokens: 0 }))
  const { id: group } = await world.gateway.api.groups.create({ name: 'team', limits: { tokens: { day: 6_000 } } })
  await world.gateway.api.groups.create({ name: 'free' })
  await world.gateway.api.settings.update({ limits: { requests: { total: 4 } } })
  const { key } = await world.gateway.api.keys.create({ name: 'ci', group })
  await read(world.chat({}, { authorization: `Bearer ${key}` }))
  const { text } = await scrape(world)
  const ofGroup = {
    signalbox_scope: 'group',
    signalbox_group: group,
    signalbox_unit: 'tokens',
    signalbox_window: 'day',
  }
  assert.is(sample(text, 'signalbox_limit_used', ofGroup), 0.025)
  assert.is(sample(text, 'signalbox_limit_used', { signalbox_scope: 'gateway', signalbox_window: 'total' }), 0.25)
  assert.is(text.match(/^signalbox_limit_used\{/gm)?.length, 2)
})

test('metrics are in Prometheus text 0.0.4, or in OpenMetrics if the scraper prefers it', async () => {
  const world = await openObserved([prometheus({ token: TOKEN })])
  await read(world.chat())
  const plain = await scrape(world, { accept: '*/*;q=0.1' })
  assert.is(plain.type, 'text/plain; version=0.0.4; charset=utf-8')
  assert.match(plain.text, /^# TYPE signalbox_attempts_total counter$/m)
  assert.not.match(plain.text, /# EOF/)
  const open = await scrape(world, {
    accept: 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5',
  })
  assert.match(open.type ?? '', /^application\/openmetrics-text; version=1\.0\.0; charset=utf-8/)
  assert.match(open.text, /^# TYPE signalbox_attempts counter$/m)
  assert.match(open.text, /^# UNIT http_server_request_duration_seconds seconds$/m)
  assert.ok(open.text.endsWith('# EOF\n'))
})

test('the metrics endpoint is protected by its own token, or else by the management guard', async () => {
  const own = await openObserved([prometheus({ token: TOKEN })])
  assert.is((await own.gateway.fetch('http://gateway/metrics')).status, 401)
  assert.is(
    (await own.gateway.fetch('http://gateway/metrics', { headers: { authorization: `Bearer ${ADMIN}` } })).status,
    401,
  )
  const managed = await openObserved([prometheus()])
  assert.is((await managed.gateway.fetch('http://gateway/metrics')).status, 401)
  assert.is(
    (await managed.gateway.fetch('http://gateway/metrics', { headers: { authorization: `Bearer ${ADMIN}` } })).status,
    200,
  )
  const none = await openObserved([])
  assert.is((await none.gateway.fetch('http://gateway/metrics')).status, 404)
  assert.throws(() => prometheus({ token: 'short' }), /32 ASCII characters/)
})

test("clients can't create time series through model names or user agents", async () => {
  const world = await openObserved([prometheus({ token: TOKEN })])
  await read(world.chat({ model: 'one/nobody-knows-this' }))
  await read(world.chat({ model: 'nowhere/first' }))
  const before = (await scrape(world)).text.split('\n').length
  for (let index = 0; index < 300; index++) {
    const model = index % 2 === 0 ? `one/random-${index}` : `random-${index}`
    await read(world.chat({ model }, { 'user-agent': `agent ${index}` }))
  }
  const { text } = await scrape(world)
  assert.is(text.split('\n').length, before)
  assert.not.match(text, /random|agent \d/)
})

test('label sets beyond 2,000 share one series, and a metric counts the overflow', async () => {
  const { Registry } = await import('../../src/features/observe/registry.ts')
  const registry = new Registry()
  for (let index = 0; index < 2_100; index++)
    registry.getSeries(measures.refused, { 'signalbox.reason': `r${index}` }).add(1)
  const [[, rejected], [, overflow]] = [...registry.listFamilies()] as never as [
    [unknown, Iterable<{ value: number }>],
    [unknown, Iterable<{ value: number }>],
  ]
  assert.is([...rejected].length, 2_001)
  assert.is([...overflow][0]?.value, 100)
})

test('the scrape code loads neither management code nor Valibot', async () => {
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({
      load(url, context, next) {
        console.log(url)
        return next(url, context)
      },
    })
    await import(process.argv[1])`
  const facts = new URL('../../src/features/observe/gateway-facts.ts', import.meta.url).href
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, facts])
  const loaded = stdout.trim().split('\n')
  assert.ok(loaded.includes(facts))
  assert.equal(
    loaded.filter((url) => /valibot|\/src\/admin\//.test(url)),
    [],
  )
})

test('a scrape succeeds while the storage is unavailable', async () => {
  const { page } = prometheus({ token: TOKEN })
  const getTargets = () => Promise.reject(new Error('the storage is away'))
  const reply = await page?.reply(
    { header: () => undefined },
    {
      ...{
        isOneOfMany: false,
        targets: getTargets,
        limits: getTargets,
        catalogAgeMs: () => Promise.reject(new Error('not loaded')),
      },
    },
  )
  assert.is(reply?.status, 200)
  assert.match(String(reply?.body), /^signalbox_build_info\{/m)
})
