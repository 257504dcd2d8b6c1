import { metered } from '../gate/support/metered-providers.ts'
import { type GateOptions, messages, openGate } from '../gate/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite("explaining a request under its key's limits")

const chat = '/v1/chat/completions'

interface Case extends GateOptions {
  /** The number of earlier requests, each of which used 12 tokens and $0.000057. */
  before?: number
  path?: string
  body?: Record<string, unknown>
  model?: string
  expected: [status: number, code?: string]
  uses?: string[]
}

const LOW = { total: 40 }
const cases: Record<string, Case> = {
  'no price': {
    limits: { usd: { day: 5 } },
    model: 'free/m',
    expected: [402, 'request_too_expensive'],
    uses: ['skipped'],
  },
  'no price, but the settings allow it': {
    limits: { usd: { day: 5 } },
    settings: { whenPriceUnknown: 'allow' },
    model: 'free/m',
    expected: [200],
  },
  'no price for the first target': {
    limits: { usd: { day: 5 } },
    combos: { pool: ['free/m', 'one/m'] },
    model: 'pool',
    expected: [200],
    uses: ['skipped', 'first'],
  },
  'a more expensive tier': {
    limits: { usd: { day: 5 } },
    body: { service_tier: 'priority' },
    expected: [402, 'request_too_expensive'],
  },
  'too few tokens left': {
    limits: { tokens: LOW },
    body: { max_tokens: 100 },
    expected: [402, 'request_too_expensive'],
  },
  'too few tokens left this minute': {
    limits: { tokens: { minute: 140 } },
    before: 5,
    body: { max_tokens: 100 },
    expected: [429, 'rate_limit_exceeded'],
  },
  'too little money left': { limits: { usd: { month: 0.0001 } }, expected: [402, 'request_too_expensive'] },
  'too little money left for the first target': {
    limits: { usd: { month: 0.0002 } },
    combos: { pool: ['one/m', 'cheap/m'] },
    model: 'pool',
    expected: [200],
    uses: ['skipped', 'first'],
  },
  "the group's token limit": { groupLimits: { tokens: LOW }, expected: [402, 'request_too_expensive'] },
  "the gateway's token limit": { settings: { limits: { tokens: LOW } }, expected: [402, 'request_too_expensive'] },
  'an exhausted token limit': {
    limits: { tokens: { total: 130 } },
    before: 1,
    respond: metered({ output: 200 }, { tokens: 0 }),
    expected: [402, 'budget_exceeded'],
  },
  'an exhausted request limit': {
    limits: { requests: { hour: 1 } },
    before: 1,
    expected: [429, 'rate_limit_exceeded'],
  },
  'a limit on concurrent requests': { limits: { parallel: 1 }, expected: [200], uses: ['first'] },
  'an exhausted token limit, for a token count': {
    limits: { tokens: { total: 130 } },
    respond: metered({ output: 200 }, { tokens: 0 }),
    before: 1,
    model: 'claude/c',
    path: '/v1/messages/count_tokens',
    expected: [200],
  },
  'a body with a model list': {
    limits: { tokens: { day: 100_000 } },
    body: { models: ['x/y'] },
    expected: [400, 'invalid_request'],
  },
  'a body with a model list, for a key with allowed models': {
    models: ['one/*'],
    body: { models: ['x/y'] },
    expected: [400, 'invalid_request'],
  },
  'a model that is not allowed': { models: ['two/*'], expected: [403, 'model_not_allowed'], uses: ['skipped'] },
  embeddings: {
    limits: { tokens: { total: 5 } },
    model: 'other/embedding',
    path: '/v1/embeddings',
    body: { input: 'A text of more than five tokens, as everyone can see.' },
    expected: [402, 'request_too_expensive'],
  },
  images: {
    limits: { usd: { day: 0.000_001 } },
    model: 'other/image',
    path: '/v1/images/generations',
    body: { prompt: 'A cat' },
    expected: [402, 'request_too_expensive'],
  },
}

for (const [
  title,
  { before = 0, path = chat, body = {}, model = 'one/m', expected, uses, ...options },
] of Object.entries(cases))
  test(`explains the outcome of a request: ${title}`, async () => {
    const { gateway, keyId, post, upstream } = await openGate({ respond: metered({}, { tokens: 0 }), ...options })
    const requested =
      path.includes('v1/chat') || path.includes('v1/messages') ? { messages, max_tokens: 30, ...body } : body
    for (let index = 0; index < before; index++)
      assert.is((await post(chat, { model: 'one/m', messages, max_tokens: 5 })).status, 200)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    const calls = upstream.calls.length
    const { targets, error } = await gateway.api.explain({ model, body: requested, path, keyId })
    assert.is(upstream.calls.length, calls)
    assert.equal([error?.status ?? 200, error?.code.toLowerCase()], [expected[0], expected[1]])
    if (error)
      assert.ok(
        targets.every(({ use }) => use === 'skipped'),
        JSON.stringify(targets),
      )
    if (uses)
      assert.equal(
        targets.map(({ use }) => use),
        uses,
      )
    const reply = await post(path, { model, ...requested })
    const responseBody = await reply.json()
    assert.equal([reply.status, reply.status < 400 ? undefined : responseBody.error.code], [expected[0], expected[1]])
  })

test('explains a rejection caused by in-flight reservations, and reserves nothing itself', async () => {
  let respond: (response: Response) => void = () => {}
  const {
    gateway,
    keyId,
    chat: send,
    reserved,
  } = await openGate({
    limits: { tokens: { day: 200 }, parallel: 1 },
    respond: () => new Promise((resolve) => (respond = resolve)),
  })
  const body = { messages, max_tokens: 100 }
  const explain = () => gateway.api.explain({ model: 'one/m', body, keyId })
  assert.is((await explain()).error, undefined)
  assert.is(await reserved(), 0)
  const pending = send(body)
  while ((await reserved()) === 0) await new Promise(setImmediate)
  assert.equal((await explain()).error?.code, 'RATE_LIMIT_EXCEEDED')
  respond(new Response('{}', { headers: { 'content-type': 'application/json' } }))
  await pending
})
