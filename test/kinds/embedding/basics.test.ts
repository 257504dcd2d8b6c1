import { fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('embeddings')

const floats = [0.25, -0.5, 1]
const base64 = 'AACAPgAAAL8AAIA/'

const catalog = {
  openai: { baseUrl: 'http://openai.test/v1', models: [{ id: 'small', type: 'embedding' as const }] },
  cohere: {
    baseUrl: 'http://cohere.test/compatibility/v1',
    models: [{ id: 'embed-v4.0', type: 'embedding' as const }],
  },
}

/** Opens a gateway with providers that always respond in their own format. */
async function open({ vector = floats as unknown, status = 200 } = {}) {
  const upstream = fakeUpstream(({ url, body }) => {
    const sent = JSON.parse(body)
    if (url.pathname.endsWith('/v2/embed'))
      return json({
        id: 'e1',
        embeddings: { float: sent.texts.map(() => floats) },
        texts: sent.texts,
        meta: { billed_units: { input_tokens: sent.texts.length } },
      })
    if (status !== 200) return json({ error: { message: 'No more', type: 'server_error' } }, status)
    const inputs = Array.isArray(sent.input) ? sent.input : [sent.input]
    const data = inputs.map((_: unknown, index: number) => ({ object: 'embedding', index, embedding: vector }))
    return json({ object: 'list', data, model: 'small', usage: { prompt_tokens: 2, total_tokens: 2 } })
  })
  const world = await openWorld({ fetch: upstream, catalog, connections: ['openai', 'cohere'] })
  const send = async (body: object, path = '/v1/embeddings', headers = {}) => {
    const response = await world.post(path, body, { headers })
    const text = await response.text()
    return { response, text, body: JSON.parse(text) }
  }
  return { ...world, upstream, send }
}

test("a request in the provider's own format passes through byte for byte, like its response", async () => {
  const { send, upstream, recorded } = await open()
  const { response, text } = await send({ model: 'openai/small', input: 'Hi', strange: [1.5] })
  assert.is(response.status, 200)
  assert.is(upstream.calls[0]?.url.href, 'http://openai.test/v1/embeddings')
  assert.is(upstream.calls[0]?.body, '{"model":"small","input":"Hi","strange":[1.5]}')
  assert.is(upstream.calls[0]?.headers.get('authorization'), 'Bearer secret-of-openai')
  assert.is(
    text,
    '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.25,-0.5,1]}],"model":"small","usage":{"prompt_tokens":2,"total_tokens":2}}',
  )
  assert.is(response.headers.get('x-signalbox-target'), 'openai/small')
  assert.is(recorded.usages[0]?.inputTokens, 2)
  assert.is(recorded.usages[0]?.outputTokens, 0)
})

test('vectors have the encoding that the client requested, even if the provider uses another', async () => {
  for (const [vector, encoding_format, wanted] of [
    [floats, 'base64', base64],
    [floats, 'float', floats],
    [floats, undefined, floats],
    [base64, 'base64', base64],
    [base64, 'float', floats],
    [base64, undefined, floats],
  ] as const) {
    const { send } = await open({ vector })
    const { body } = await send({ model: 'openai/small', input: ['Hi', 'you'], encoding_format })
    assert.equal(
      body.data.map((item: { embedding: unknown }) => item.embedding),
      [wanted, wanted],
    )
  }
})

test("a request in a different format than the provider's is translated", async () => {
  const { send, upstream } = await open()
  const { body, response } = await send({ model: 'cohere/embed-v4.0', input: ['Hi', 'you'], dimensions: 256 })
  assert.is(upstream.calls[0]?.url.href, 'http://cohere.test/v2/embed')
  assert.equal(JSON.parse(upstream.calls[0]?.body ?? ''), {
    model: 'embed-v4.0',
    texts: ['Hi', 'you'],
    input_type: 'search_document',
    embedding_types: ['float'],
    output_dimension: 256,
  })
  assert.is(response.headers.get('x-signalbox-warning'), 'added:input_type')
  assert.equal(body, {
    object: 'list',
    id: 'e1',
    data: [0, 1].map((index) => ({ object: 'embedding', index, embedding: floats })),
    model: 'embed-v4.0',
    usage: { prompt_tokens: 2, total_tokens: 2 },
  })
  const strict = await send({ model: 'cohere/embed-v4.0', input: 'Hi' }, '/v1/embeddings', {
    'x-signalbox-strict': '1',
  })
  assert.is(strict.response.status, 400)
  assert.match(strict.body.error.message, /^"input_type": /)
})

test('a request with too many inputs is split, and its results are joined in order', async () => {
  const { send, upstream } = await open()
  const input = Array.from({ length: 200 }, (_, index) => `text ${index}`)
  const { body, response } = await send({ model: 'cohere/embed-v4.0', input, input_type: 'search_query' })
  assert.is(response.status, 200)
  assert.equal(
    upstream.calls.map((call) => JSON.parse(call.body).texts.length),
    [96, 96, 8],
  )
  assert.equal(
    upstream.calls.flatMap((call) => JSON.parse(call.body).texts),
    input,
  )
  assert.equal(
    body.data.map(({ index }: { index: number }) => index),
    input.map((_, index) => index),
  )
  assert.equal(body.usage, { prompt_tokens: 200, total_tokens: 200 })
})

test('a combo falls back to the next provider when one fails', async () => {
  const { send, api, upstream } = await open({ status: 500 })
  const models = ['openai/small', 'cohere/embed-v4.0']
  await api.combos.create({ name: 'vectors', kind: 'embedding', models, sameVectors: true })
  const { response } = await send({ model: 'vectors', input: 'Hi', input_type: 'query' })
  assert.is(response.status, 200)
  assert.is(response.headers.get('x-signalbox-target'), 'cohere/embed-v4.0')
  assert.equal(upstream.providers, ['openai', 'cohere'])
})

test('clients of each format can parse gateway and provider errors', async () => {
  const { send } = await open({ status: 400 })
  for (const body of [
    { model: 'nobody/m' },
    { model: 'openai/small', input: 7, texts: 7 },
    { model: 'openai/small' },
  ]) {
    const sent = { input: 'Hi', texts: ['Hi'], ...body }
    const openai = await send(sent)
    assert.is(typeof openai.body.error.message, 'string')
    const cohere = await send(sent, '/v2/embed')
    assert.ok(cohere.response.status >= 400)
    assert.type(cohere.body.message, 'string')
    const { model, ...rest } = sent
    const google = await send({ ...rest, content: { parts: [{ text: 'Hi' }] } }, `/v1beta/models/${model}:embedContent`)
    assert.is(google.body.error.code, google.response.status)
  }
})

test('a dollar limit charges embeddings at their input price, and rejects unknown prices', async () => {
  const priced = {
    openai: {
      baseUrl: 'http://openai.test/v1',
      models: [
        { id: 'small', type: 'embedding' as const, price: { input: 1_000 } },
        { id: 'unpriced', type: 'embedding' as const },
      ],
    },
  }
  const data = [{ object: 'embedding', index: 0, embedding: floats }]
  const upstream = fakeUpstream(() =>
    json({ object: 'list', data, model: 'm', usage: { prompt_tokens: 100, total_tokens: 100 } }),
  )
  const { api, post, recorded } = await openWorld({ fetch: upstream, catalog: priced, connections: ['openai'] })
  const { key } = await api.keys.create({ name: 'k', limits: { usd: { day: 5 } } })
  const headers = { authorization: `Bearer ${key}` }
  const unpriced = await post('/v1/embeddings', { model: 'openai/unpriced', input: 'Hi' }, { headers })
  assert.ok(unpriced.status >= 400, "a model with an unknown price isn't free")
  const statuses: number[] = []
  for (let times = 0; times < 60; times++)
    statuses.push((await post('/v1/embeddings', { model: 'openai/small', input: 'Hi' }, { headers })).status)
  assert.is(recorded.usages[0]?.costUsd, 0.1)
  assert.is(statuses[0], 200)
  assert.is(statuses.at(-1), 402)
  const served = statuses.filter((status) => status === 200).length
  assert.ok(served <= 50 && served > 20, `${served} requests were served for $5 at $0.10 each`)
})
