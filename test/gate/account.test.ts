import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { openGate } from './support/world.ts'

const test = suite("reading a key's own limits")

async function world(options: Parameters<typeof openGate>[0]) {
  const opened = await openGate(options)
  const get = (path: string, key: string | undefined = opened.key) =>
    opened.gateway.fetch(
      new Request(`http://gateway${path}`, key === '' ? {} : { headers: { authorization: `Bearer ${key}` } }),
    )
  return { ...opened, get, json: async (path: string) => (await get(path)).json() }
}

test('/v1/account returns the limits of the key, its group, and the gateway, as the management API does', async () => {
  const { chat, json, gateway, keyId, upstream } = await world({
    limits: { requests: { minute: 5 }, usd: { month: 2 } },
    groupLimits: { tokens: { day: 1_000 } },
    settings: { limits: { parallel: 9 } },
    models: ['one/*'],
  })
  assert.is((await chat({ max_tokens: 5 })).status, 200)
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  const account = await json('/v1/account')
  assert.equal(account.limits, (await gateway.api.keys.limits.get(keyId)).limits)
  assert.equal(
    account.limits.map(({ scope, unit, used, remaining, resetsAt }: Record<string, unknown>) => [
      scope,
      unit,
      used,
      remaining,
      resetsAt,
    ]),
    [
      ['key', 'requests', 1, 4, '2026-01-01T00:01:00.000Z'],
      ['key', 'usd', 0.000057, 1.999943, '2026-02-01T00:00:00.000Z'],
      ['group', 'tokens', 12, 988, '2026-01-02T00:00:00.000Z'],
      ['gateway', 'parallel', 0, 9, null],
    ],
  )
  const { id, ...key } = account.key
  assert.is(id, keyId)
  assert.equal(
    { ...key, group: key.group.name },
    { name: 'alice', expiresAt: null, group: 'Team', models: ['one/*'], kinds: null },
  )
  const { data } = await json('/v1/key')
  assert.equal(
    [
      data.label,
      data.limit,
      data.limit_remaining,
      data.limit_reset,
      data.usage,
      data.usage_daily,
      data.rate_limit.requests,
    ],
    ['alice', 2, 1.999943, 'monthly', 0.000057, 0.000057, 5],
  )
  assert.equal(await json('/v1/auth/key'), { data })
  assert.equal(await json('/v1/credits'), { data: { total_credits: 2, total_usage: 0.000057 } })
  assert.is(upstream.calls.length, 1)
})

test('/v1/account returns no limits if there are none, and no key if none was sent', async () => {
  const { get, json } = await world({})
  assert.equal((await json('/v1/account')).limits, [])
  assert.equal(await (await get('/v1/account', '')).json(), { object: 'account', key: null, limits: [] })
  assert.equal((await json('/v1/credits')).data, { total_credits: null, total_usage: 0 })
  assert.is((await json('/v1/key')).data.limit, null)
  assert.is((await get('/v1/key', '')).status, 401)
})

test('/v1/key shows the spending of a key without limits, based on its usage records', async () => {
  const clock = fakeClock(Date.parse('2026-01-30T12:00:00Z')) // a Friday
  const { chat, json } = await world({ usage: true, clock, groupLimits: { tokens: { day: 100_000 } } })
  for (const days of [0, 2, 1, 1]) {
    await clock.advance(days * 86_400_000)
    assert.is((await chat({ max_tokens: 5 })).status, 200)
  }
  const { data } = await json('/v1/key')
  const times = (count: number) => Math.round(count * 57) / 1e6
  assert.equal(
    [data.usage, data.usage_monthly, data.usage_weekly, data.usage_daily],
    [times(4), times(3), times(2), times(1)],
  )
  assert.is((await json('/v1/credits')).data.total_usage, times(4))
  const unkept = await world({ usage: false })
  const { usage, usage_daily, limit } = (await unkept.json('/v1/key')).data
  assert.equal([usage, usage_daily, limit], [null, null, null])
  assert.equal((await unkept.json('/v1/credits')).data, { total_credits: null, total_usage: null })
})

for (const path of ['/v1/account', '/v1/key', '/v1/credits'])
  test(`${path} authenticates the key like any other request`, async () => {
    const { get, gateway, keyId, clock } = await world({ limits: { requests: { total: 1 } } })
    const status = async (key?: string) => (await get(path, key)).status
    for (let index = 0; index < 3; index++) assert.is(await status(), 200) // reading the limits doesn't count as a request
    await gateway.api.keys.update(keyId, { isActive: false })
    assert.is(await status(), 403)
    await gateway.api.keys.update(keyId, { isActive: true, expiresAt: new Date(clock.now() + 1_000).toISOString() })
    await clock.advance(1_000)
    assert.is(await status(), 401)
    await gateway.api.settings.update({ requireApiKey: true })
    assert.is(await status(''), 401)
    assert.is((await gateway.fetch(new Request(`http://gateway${path}`, { method: 'POST' }))).status, 401)
  })
