import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { CodeConfig } from '../../src/config/code-config.ts'
import { isGatewayError } from '../../src/errors.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('groups and plans in code')

const connections = {
  one: { provider: 'openai-compatible-one', baseUrl: 'http://one.test/v1', tags: { zdr: true } },
  two: { provider: 'openai-compatible-two', baseUrl: 'http://two.test/v1' },
}

function open(config: CodeConfig, options: GatewayOptions = {}) {
  const gateway = createGateway({
    storage: memoryStorage(),
    fetch: async () => Response.json(chatResponse()),
    logger: false,
    connections,
    ...config,
    ...options,
  })
  const send = (model: string, headers: Record<string, string>) =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: `openai-compatible-${model}`, messages: [{ role: 'user', content: 'Hi' }] }),
    })
  const sendWith = async (key: string, model = 'one/m') =>
    (await send(model, { authorization: `Bearer ${key}` })).status
  const sendAs = async (account: string, model = 'one/m') => (await send(model, { 'x-user': account })).status
  return { gateway, api: gateway.api, sendWith, sendAs }
}

const identify: GatewayOptions['identify'] = (request) => ({ account: request.headers.get('x-user') ?? 'anonymous' })

const getError = (promise: Promise<unknown>) =>
  promise.then(
    () => 'nothing',
    (error: unknown) => (isGatewayError(error) ? `${error.status} ${error.code}` : String(error)),
  )

test("a group in code limits its keys' requests and models", async () => {
  const { api, sendWith } = open({
    groups: { team: { name: 'Team', models: ['openai-compatible-one/*'], limits: { requests: { day: 2 } } } },
  })
  const [first, second] = [
    await api.keys.create({ name: 'a', group: 'team' }),
    await api.keys.create({ name: 'b', group: 'team' }),
  ]
  assert.is(await sendWith(first.key, 'two/m'), 403)
  assert.equal([await sendWith(first.key), await sendWith(second.key), await sendWith(first.key)], [200, 200, 429])
  const { limits } = await api.groups.limits.get('team')
  assert.equal(
    limits.map(({ unit, used }) => [unit, used]),
    [['requests', 2]],
  )
})

test("a plan in code sets each account's limits and required connection tags", async () => {
  const { sendAs } = open(
    { plans: { free: { each: { requests: { day: 1 } }, require: { zdr: true } } } },
    { identify, accounts: { defaultPlan: 'free' } },
  )
  assert.equal([await sendAs('ann'), await sendAs('ann'), await sendAs('bob')], [200, 429, 200])
  assert.is(await sendAs('cid', 'two/m'), 403)
})

test("groups and plans in code aren't reported as damaged", async () => {
  const errors: unknown[] = []
  const { api, sendAs } = open(
    { plans: { free: { each: { requests: { day: 5 } } } }, groups: { team: {} } },
    { identify, accounts: { defaultPlan: 'free' }, hooks: { onError: (error) => void errors.push(error) } },
  )
  assert.is(await sendAs('ann'), 200)
  assert.is((await api.groups.list()).groups.length, 2)
  assert.equal(errors, [])
  assert.equal((await api.health.list()).damaged, [])
})

test("a group's default name is its ID, and a plan can be referenced by its name", async () => {
  const { api, sendAs } = open(
    { groups: { team: {} }, plans: { p1: { name: 'Free', each: { requests: { day: 1 } } } } },
    { identify, accounts: { defaultPlan: 'Free' } },
  )
  assert.equal(
    (await api.groups.list()).groups.map(({ id, name, isActive, source, error }) => [
      id,
      name,
      isActive,
      source,
      error,
    ]),
    [
      ['team', 'team', true, 'code', undefined],
      ['p1', 'Free', true, 'code', undefined],
    ],
  )
  assert.equal([await sendAs('ann'), await sendAs('ann')], [200, 429])
})

test('changes to a group in code get a 409, and nothing is stored', async () => {
  const storage = memoryStorage()
  const { api, sendWith } = open({ groups: { team: { limits: { requests: { day: 1 } } } } }, { storage })
  const { key } = await api.keys.create({ name: 'a', group: 'team' })
  const taken = '409 DEFINED_IN_CODE'
  assert.is(await getError(api.groups.update('team', { limits: null })), taken)
  assert.is(await getError(api.groups.update('team', { isActive: false })), taken)
  assert.is(await getError(api.groups.put({ id: 'team', name: 'other' })), taken)
  assert.is(await getError(api.groups.delete('team')), taken)
  assert.equal([await sendWith(key), await sendWith(key)], [200, 429])
  const stored = await storage.list('groups/')
  assert.equal(stored, [])
})

test('a group in code overrides a stored group until it is removed from the code', async () => {
  const storage = memoryStorage()
  const { api, sendWith, gateway } = open({}, { storage, secret: 'a-secret-of-at-least-32-characters' })
  await api.groups.put({ id: 'team', name: 'Stored', isActive: false })
  const { key } = await api.keys.create({ name: 'a', group: 'team' })
  assert.is(await sendWith(key), 403)
  await gateway.reload({ connections, groups: { team: { name: 'Code' } } })
  assert.is(await sendWith(key), 200)
  assert.equal(
    (await api.groups.list()).groups.map(({ name, source }) => [name, source]),
    [['Code', 'code']],
  )
  await gateway.reload({ connections })
  assert.is(await sendWith(key), 403)
  assert.equal(
    (await api.groups.list()).groups.map(({ name, source }) => [name, source]),
    [['Stored', undefined]],
  )
})

test("a reload changes groups for the next request, and pausing a group ends its keys' streams", async () => {
  const { api, sendWith, gateway } = open(
    { groups: { team: { models: ['openai-compatible-one/*'] } } },
    {
      fetch: async (_url, init) => {
        if (!/"stream":true/.test(String(init?.body))) return Response.json(chatResponse())
        const text = new TextEncoder().encode(
          'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Once"}}]}\n\n',
        )
        return new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(text)
            },
          }),
          { headers: { 'content-type': 'text/event-stream' } },
        )
      },
    },
  )
  const { key } = await api.keys.create({ name: 'a', group: 'team' })
  assert.equal([await sendWith(key), await sendWith(key, 'two/m')], [200, 403])
  await gateway.reload({ connections, groups: { team: { models: ['openai-compatible-two/*'] } } })
  assert.equal([await sendWith(key), await sendWith(key, 'two/m')], [403, 200])
  const stream = await gateway.fetch('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'openai-compatible-two/m', stream: true, messages: [] }),
  })
  await gateway.reload({ connections, groups: { team: { isActive: false } } })
  assert.match(await stream.text(), /Once[\s\S]*"key_paused"/)
  assert.is(await sendWith(key, 'two/m'), 403)
})

test('a reload that changes a group preserves its creation time', async () => {
  const { api, gateway } = open({ groups: { team: {} } })
  const { createdAt } = await api.groups.get('team')
  await gateway.reload({ connections, groups: { team: { metadata: { cost: 'rd' } } } })
  assert.equal((await api.groups.get('team')).createdAt, createdAt)
})

test('a stored group that claims to be defined in code still needs a signature', async () => {
  const storage = memoryStorage()
  const { api, sendWith } = open({ groups: { other: {} } }, { storage, secret: 'a-secret-of-at-least-32-characters' })
  await api.groups.put({ id: 'team', name: 'Team', limits: { requests: { day: 1 } } })
  const { key } = await api.keys.create({ name: 'a', group: 'team' })
  const [stored] = await storage.list('groups/')
  const { record, order } = JSON.parse(stored?.value ?? '')
  const { limits: _, ...unlimited } = record
  await storage.set('groups/team', JSON.stringify({ order, record: { ...unlimited, source: 'code' } }))
  assert.is(await sendWith(key), 500)
  const [shown] = (await api.groups.list()).groups.filter(({ id }) => id === 'team')
  assert.match(shown?.error ?? '', /not written by a gateway with this secret/)
  assert.is(shown?.source, undefined)
  await api.groups.update('team', { isActive: false })
  assert.is(await getError(api.groups.delete('other')), '409 DEFINED_IN_CODE')
})

const problems: Array<[GatewayOptions, RegExp]> = [
  [{ groups: { team: { limit: {} } as never } }, /^groups\.team\.limit is not a known field/],
  [{ groups: { team: { limits: { requests: { day: 0 } } } } }, /^groups\.team\.limits\.requests\.day must be/],
  [{ plans: { 'a b': {} } }, /^plans\.a b must be named with letters/],
  [{ plans: { free: { each: { usd: 5 } as never } } }, /^plans\.free\.each\.usd must be an object/],
  [
    { groups: { free: {} }, plans: { free: {} } },
    /^plans\.free has the same "id" as groups\.free\. Change one of them\./,
  ],
  [{ groups: [] as never }, /^groups must be an object by ID or name/],
  [{ groups: { team: { createdAt: 'x' } as never } }, /^groups\.team\.createdAt is not a known field/],
]

for (const [options, expected] of problems)
  test(`createGateway rejects ${JSON.stringify(options)}`, () => {
    assert.throws(() => createGateway({ ...options, logger: false }), expected)
  })
