import { paths } from '../../src/features/cloud-sync/protocol.ts'
import { assert, suite } from '../support/suite.ts'
import { CLOUD_URL, chatRequest, type OverMsw, openOverMsw, PROVIDER_KEY } from './support/over-msw.ts'
import { openProxy } from './support/proxy.ts'
import { keyState } from './support/states.ts'

const test = suite('usage on both sides')

const MODEL = 'openai/gpt-5-mini'
/** The number of tokens that the provider reports for each request. */
const TOKENS = 100
const usage = { prompt_tokens: 40, completion_tokens: 60, total_tokens: TOKENS }
const chunk = (choices: object[], extra = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...extra })}\n\n`
const events = [
  chunk([{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }]),
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  chunk([], { usage }),
  'data: [DONE]\n\n',
].join('')

/** Opens both sides with a synced key in a group. */
async function openWithLimits(
  limits: { key?: object; group?: object },
  options: Parameters<typeof openOverMsw>[0] = {},
) {
  const ends = openOverMsw({ events, ...options })
  const { api } = ends.home
  await api.connections.put({ id: 'openai', provider: 'openai', apiKey: PROVIDER_KEY })
  await api.groups.put({ id: 'team', name: 'Team', ...(limits.group && { limits: limits.group }) })
  const { id, key } = await api.keys.create({ name: 'app', group: 'team', ...(limits.key && { limits: limits.key }) })
  await api.settings.update({ cloudUrl: CLOUD_URL })
  await api.cloud.enable()
  return { ends, api, id, key, ...sendAll(ends, key) }
}

function sendAll(ends: OverMsw, key: string) {
  return {
    async atHome() {
      const response = await ends.home.fetch('http://home.test/v1/chat/completions', chatRequest(key, MODEL))
      return { status: response.status, text: await response.text() }
    },
    atCloud: () => ends.chat(key, MODEL),
  }
}

/** Returns `used` and `remaining` for each of the key's limits. */
const getStates = async (api: Pick<OverMsw['home']['api'], 'keys'>, id: string) =>
  (await api.keys.limits.get(id)).limits.map(({ scope, unit, used, remaining }) => [scope, unit, used, remaining])

const spentCalls = ({ recorded }: OverMsw) => recorded.filter(({ path }) => path === paths.spent)

test("a key's usage on one side counts on the other after a sync", async () => {
  const budget = { tokens: { total: 20_000 }, requests: { total: 5 } }
  const { ends, api, id, atHome, atCloud } = await openWithLimits({ key: budget, group: { requests: { month: 50 } } })
  for (let times = 0; times < 2; times++) assert.is((await atCloud()).status, 200)
  assert.is((await atHome()).status, 200)
  const cloud = (await ends.tenant()).api
  const both = [
    ['key', 'requests', 3, 2],
    ['key', 'tokens', 3 * TOKENS, 20_000 - 3 * TOKENS],
    ['group', 'requests', 3, 47],
  ]
  for (let times = 0; times < 10; times++) {
    await api.cloud.sync()
    assert.equal(await getStates(api, id), both)
    assert.equal(await getStates(cloud, id), both)
  }
  assert.is((await atHome()).status, 200)
  assert.is((await atHome()).status, 200)
  await api.cloud.sync()
  const rejected = await atCloud()
  assert.is(rejected.status, 429, rejected.text)
  assert.match(rejected.text, /rate_limit_exceeded/)
  assert.is((await atHome()).status, 429)
  assert.equal((await getStates(cloud, id))[0], ['key', 'requests', 5, 0])
  await ends.close()
})

test('a budget spent at the cloud is also spent on the gateway', async () => {
  const { ends, api, id, atHome, atCloud } = await openWithLimits({ key: { usd: { total: 0.0023 } } })
  const responses: number[] = []
  while (responses.at(-1) !== 402 && responses.length < 20) responses.push((await atCloud()).status)
  assert.equal(responses.slice(0, 2), [200, 200])
  assert.is(responses.at(-1), 402)
  assert.equal(await getStates(api, id), [['key', 'usd', 0, 0.0023]])
  await api.cloud.sync()
  const cloud = (await ends.tenant()).api
  assert.equal(await getStates(api, id), await getStates(cloud, id))
  const { status, text } = await atHome()
  assert.is(status, 402, text)
  await ends.close()
})

test('counters reset on the gateway are also reset at the cloud', async () => {
  const { ends, api, id, atHome, atCloud } = await openWithLimits({ key: { requests: { total: 2 } } })
  assert.is((await atCloud()).status, 200)
  assert.is((await atHome()).status, 200)
  await api.cloud.sync()
  assert.equal([(await atCloud()).status, (await atHome()).status], [429, 429])
  await api.keys.limits.reset(id)
  await api.cloud.sync()
  assert.equal([(await atCloud()).status, (await atHome()).status], [200, 200])
  await api.cloud.sync()
  assert.equal(await getStates(api, id), [['key', 'requests', 2, 0]])
  await ends.close()
})

test('usage at the cloud still counts after the replica is removed and recreated', async () => {
  const { ends, api, id, atCloud } = await openWithLimits({ key: { requests: { total: 3 } } })
  assert.is((await atCloud()).status, 200)
  await api.cloud.disable()
  assert.equal(await getStates(api, id), [['key', 'requests', 1, 2]])
  await api.cloud.enable()
  assert.is((await atCloud()).status, 200)
  for (let times = 0; times < 3; times++) {
    await api.cloud.sync()
    assert.equal(await getStates(api, id), [['key', 'requests', 2, 1]])
    assert.equal(await getStates((await ends.tenant()).api, id), [['key', 'requests', 2, 1]])
  }
  await ends.close()
})

test('a key deleted on the gateway leaves no counters at the cloud', async () => {
  const { ends, api, id, atCloud } = await openWithLimits({ key: { requests: { total: 3 } } })
  assert.is((await atCloud()).status, 200)
  const getCounters = async () => (await ends.cloudStorage.list('')).filter(({ key }) => key.includes('/limits/key/'))
  assert.is((await getCounters()).length, 1)
  await api.keys.delete(id)
  await api.cloud.sync()
  assert.equal(await getCounters(), [])
  await ends.close()
})

test("usage isn't sent while no key or group has a limit", async () => {
  const { ends, api, atCloud } = await openWithLimits({})
  assert.is((await atCloud()).status, 200)
  await api.cloud.sync()
  assert.equal(spentCalls(ends), [])
  await ends.close()
})

test("syncing with a proxy that can't exchange usage causes no error", async () => {
  const { ends, api, id, atHome, atCloud } = await openWithLimits(
    { key: { requests: { total: 5 } } },
    { unknownPath: paths.spent },
  )
  assert.equal([(await atCloud()).status, (await atHome()).status], [200, 200])
  assert.equal(await api.cloud.sync(), { success: true, conflicts: [] })
  assert.equal(await getStates(api, id), [['key', 'requests', 1, 4]])
  assert.is((await api.cloud.get()).lastError, null)
  await ends.close()
})

test('a proxy accepts counters only for its replica and for keys with limits', async () => {
  const world = openProxy()
  const client = await world.enrolled()
  const { mirror, stamp } = await client.sync({ create: true })
  const { state } = await keyState('limited')
  const limited = { ...state, record: { ...state.record, limits: { requests: { total: 9 } } } }
  const { verdicts } = await client.sync({ mirror, stamp, changes: [limited, (await keyState('free')).state] })
  assert.equal(verdicts, ['taken', 'taken'])
  const account = (id: string) => ({ scope: 'key', id, epoch: 0, number: 1, minute: 1, used: Array(18).fill(3) })
  const send = async (content: object) => {
    const { status, body } = await client.call('POST', paths.spent, content)
    return [status, body.code ?? body]
  }
  const accounts = ['limited', 'free', 'unknown'].map(account)
  assert.equal(await send({ mirror, accounts, after: '' }), [200, { accounts: [] }])
  const counters = (await world.storage.list('')).filter(({ key }) => key.includes('/limits/'))
  assert.is(counters.length, 1)
  assert.equal(await send({ mirror: 'other', accounts, after: '' }), [409, 'MIRROR_GONE'])
  const wrong = [{ used: [1] }, { minute: 1e13 }, { number: -1 }, { scope: 'gateway' }, { more: 1 }]
  for (const change of wrong)
    assert.equal(await send({ mirror, accounts: [{ ...account('limited'), ...change }] }), [400, 'INVALID_MESSAGE'])
})
