import type { Catalog } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { fakeUpstream, json, type Respond } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('counting tokens')

const catalog: Catalog = {
  chat: { baseUrl: 'http://chat.test/v1', models: [{ id: 'm' }] },
  responses: { baseUrl: 'http://responses.test/v1', format: 'openai-responses', models: [{ id: 'm' }] },
  claude: { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages', models: [{ id: 'm' }] },
  google: { baseUrl: 'http://google.test/v1beta', format: 'gemini', models: [{ id: 'm' }] },
}

/** Each client's path and body, and its response for a count of 7. */
const clients = {
  claude: {
    path: '/v1/messages/count_tokens',
    send: (model: string) => ({ model, system: 'Be brief.', messages: [{ role: 'user', content: 'Hi' }] }),
    reads: { input_tokens: 7 },
  },
  responses: {
    path: '/v1/responses/input_tokens',
    send: (model: string) => ({ model, instructions: 'Be brief.', input: 'Hi' }),
    reads: { object: 'response.input_tokens', input_tokens: 7 },
  },
  google: {
    path: (model: string) => `/v1beta/models/${model}:countTokens`,
    send: (model: string) => ({
      generateContentRequest: {
        model: `models/${model}`,
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      },
    }),
    reads: { totalTokens: 7 },
  },
} as const

/** Each provider's path for token counts. */
const counters = {
  claude: 'http://claude.test/v1/messages/count_tokens',
  responses: 'http://responses.test/v1/responses/input_tokens',
  google: 'http://google.test/v1beta/models/m:countTokens',
} as const

const counting: Respond = ({ url }) => {
  const counter = Object.entries(counters).find(([, href]) => href === url.href)?.[0]
  return counter ? json(clients[counter as keyof typeof counters].reads) : json({ error: 'no such path' }, 404)
}

async function count(client: keyof typeof clients, model: string, respond = counting) {
  const upstream = fakeUpstream(respond)
  const world = await openWorld({ fetch: upstream, catalog, connections: Object.keys(catalog) })
  const { path, send } = clients[client]
  const response = await world.post(typeof path === 'string' ? path : path(model), send(model))
  return {
    upstream,
    world,
    response,
    body: await response.json(),
    warning: response.headers.get('x-signalbox-warning'),
  }
}

for (const client of ['claude', 'responses', 'google'] as const) {
  for (const provider of ['claude', 'responses', 'google'] as const)
    test(`the client gets the token count from the provider (${client} client, ${provider} provider)`, async () => {
      const { upstream, response, body, warning } = await count(client, `${provider}/m`)
      assert.equal([response.status, body, warning], [200, clients[client].reads, null])
      assert.equal(
        upstream.calls.map(({ url }) => url.href),
        [counters[provider]],
      )
      for (const output of ['Be brief.', 'Hi']) assert.ok(upstream.calls[0]?.body.includes(output))
    })

  test(`the client gets an estimate if the target can't count tokens (${client} client)`, async () => {
    const { upstream, response, body, warning } = await count(client, 'chat/m')
    assert.equal([response.status, warning, upstream.calls.length], [200, 'estimated:input_tokens', 0])
    assert.equal(Object.keys(body), Object.keys(clients[client].reads))
  })

  test(`the client gets an estimate if the provider doesn't support token counts (${client} client)`, async () => {
    const detail = 'models/m is not found for API version v1beta, or is not supported for countTokens.'
    for (const provider of ['claude', 'responses', 'google'])
      for (const status of [404, 405, 501])
        for (const body of [{ detail: 'Not Found' }, { error: { code: status, message: detail } }]) {
          const { response, warning, world } = await count(client, `${provider}/m`, () => json(body, status))
          assert.equal([response.status, warning], [200, 'estimated:input_tokens'], `${provider} ${status}`)
          assert.equal((await world.api.health.list()).health, []) // the failure says nothing about the model
        }
  })
}

test("a nested countTokens request gets the provider's model name, and is otherwise unchanged", async () => {
  const upstream = fakeUpstream(counting)
  const world = await openWorld({ fetch: upstream, catalog, connections: Object.keys(catalog) })
  const createNested = (model: string) =>
    `{ "generateContentRequest" : {"contents":[{"parts":[{"text":"\\"model\\":1"}]}], "model" : "models/${model}","n":12345678901234567890} }`
  for (const version of ['v1', 'v1beta']) {
    const response = await world.post(`/${version}/models/google/m:countTokens`, createNested('google/m'))
    assert.is(response.status, 200)
    assert.is(upstream.calls.at(-1)?.body, createNested('m'))
  }
  const bare = '{"contents":[{"parts":[{"text":"Hi"}]}],"model":"x"}'
  await world.post('/v1/models/google/m:countTokens', bare)
  assert.is(upstream.calls.at(-1)?.body, bare)
})

test('a token count request has only the fields that the provider accepts', async () => {
  const getRequested = async (provider: keyof typeof counters) => {
    const client = provider === 'claude' ? 'responses' : 'claude'
    const { upstream } = await count(client, `${provider}/m`)
    return Object.keys(JSON.parse(upstream.calls[0]?.body ?? '')).sort()
  }
  assert.equal(await getRequested('claude'), ['messages', 'model', 'system'])
  assert.equal(await getRequested('responses'), ['input', 'instructions', 'model'])
  assert.equal(await getRequested('google'), ['generateContentRequest'])
})

test("a rejected token count request returns the provider's error instead of an estimate", async () => {
  const { response, body } = await count('google', 'claude/m', () =>
    json({ type: 'error', error: { type: 'invalid_request_error', message: 'messages: at least one' } }, 400),
  )
  assert.is(response.status, 400)
  assert.match(body.error.message, /at least one/)
})

test('a response without a token count causes a 502', async () => {
  const { response } = await count('google', 'claude/m', () => json({ hello: 1 }))
  assert.is(response.status, 502)
})
