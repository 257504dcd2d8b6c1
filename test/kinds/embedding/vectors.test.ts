import { toBase64Vector, toFloats } from '../../../src/protocols/kinds/embedding/vectors.ts'
import { fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { createRandom } from '../../support/random.ts'
import { assert, suite } from '../../support/suite.ts'
import { getBase64, getVector } from './vendors.ts'

const test = suite('vector values')

test('floats survive a round trip through base64 bit for bit', () => {
  const edges = [0, -0, 1, -1, 1e-45, -1e-45, 1.17549435e-38, 3.4028234e38, -3.4028234e38, 1 / 3, Math.PI].map(
    Math.fround,
  )
  const random = createRandom(1).next
  const some = Array.from({ length: 3_000 }, () => Math.fround((random() - 0.5) * 10 ** Math.floor(random() * 20 - 10)))
  for (const vector of [edges, some, [0.5]]) {
    const packed = toBase64Vector(vector)
    assert.is(packed, getBase64(vector))
    assert.ok(toFloats(packed).every((number, index) => Object.is(number, vector[index])))
    assert.is(toBase64Vector(toFloats(packed)), packed)
    assert.equal(
      toFloats(JSON.parse(JSON.stringify(toFloats(packed)))),
      toFloats(packed).map((value) => value || 0),
    )
  }
})

/** Creates an OpenAI-compatible server that always returns these embeddings. */
async function respondWith(embeddings: unknown, extra: object = {}) {
  const data = Array.isArray(embeddings)
    ? embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }))
    : embeddings
  const upstream = fakeUpstream(() => json({ object: 'list', data, model: 'm', ...extra }))
  const { post } = await openWorld({ fetch: upstream, connections: ['one'] })
  return async (body: object) => {
    const response = await post('/v1/embeddings', { model: 'one/e', input: ['a', 'b'], ...body })
    return { status: response.status, text: await response.text() }
  }
}

for (const [label, embeddings] of Object.entries({
  'no list': undefined,
  'an empty list': [],
  'too few vectors': [[1, 2]],
  'too many vectors': [[1], [2], [3]],
  'an empty vector': [[1], []],
  'vectors of different lengths': [[1, 2], [1]],
  'no numbers': [['x'], ['y']],
  'null in place of a number': [[null], [null]],
  'invalid base64': ['***', '***'],
  'an incomplete number in base64': ['AAAA', 'AAAA'],
  'an object in place of a vector': [{}, {}],
}))
  test(`a response with ${label} is a provider failure, not a client error`, async () => {
    const send = await respondWith(embeddings)
    for (const encoding_format of ['float', undefined]) {
      const { status, text } = await send({ encoding_format })
      assert.is(status, 502, text)
      assert.match(text, /an embedding for each input|embeddings of equal length/)
    }
  })

test('translation sorts vectors by their indexes', async () => {
  const { post } = await openWorld({
    fetch: fakeUpstream(() =>
      json({ data: [2, 0, 1].map((index) => ({ index, embedding: [index, 0.5] })), model: 'm', object: 'list' }),
    ),
    connections: ['one'],
  })
  const response = await post('/v2/embed', { model: 'one/e', texts: ['a', 'b', 'c'], input_type: 'clustering' })
  assert.equal(Object(await response.json()).embeddings.float, [
    [0, 0.5],
    [1, 0.5],
    [2, 0.5],
  ])
})

test('a split request makes at most four concurrent calls and gets the unsplit response', async () => {
  const random = createRandom(2).next
  for (const size of [1, 95, 96, 97, 192, 500]) {
    const texts = Array.from({ length: size }, (_, index) => `${'x'.repeat(Math.floor(random() * 40))} ${index}`)
    let most = 0
    const upstream = fakeUpstream(async ({ body }) => {
      most = Math.max(most, upstream.open)
      await Promise.resolve()
      const sent: { texts: string[] } = JSON.parse(body)
      return json({ embeddings: { float: sent.texts.map((text) => getVector(text)) } })
    })
    const { post, recorded } = await openWorld({
      fetch: upstream,
      catalog: { cohere: { baseUrl: 'http://cohere.test' } },
      connections: ['cohere'],
    })
    const response = await post('/v1/embeddings', { model: 'cohere/e', input: texts })
    const { data } = (await response.json()) as { data: { index: number; embedding: number[] }[] }
    assert.equal(
      data,
      texts.map((text, index) => ({ object: 'embedding', index, embedding: getVector(text) })),
    )
    assert.ok(most <= 4, `${most} concurrent calls`)
    assert.is(recorded.attempts.length, 1)
  }
})

test('a failing call of a split request aborts the others, and the next target is tried', async () => {
  const upstream = fakeUpstream(({ body, provider, signal }, i) => {
    const sent: { texts?: string[]; input?: string[] } = JSON.parse(body)
    if (provider === 'one')
      return json({
        data: (sent.input ?? []).map((text, index) => ({ index, embedding: getVector(text) })),
        model: 'e',
      })
    if (i === 2) return json({ message: 'overloaded' }, 503)
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  const { post, recorded } = await openWorld({
    fetch: upstream,
    catalog: { cohere: { baseUrl: 'http://cohere.test' }, one: { baseUrl: 'http://one.test/v1' } },
    connections: ['cohere', 'one'],
    combos: { vectors: { kind: 'embedding', models: ['cohere/e', 'one/e'] } },
  })
  const input = Array.from({ length: 300 }, (_, index) => `text ${index}`)
  const response = await post('/v1/embeddings', { model: 'vectors', input })
  assert.is(response.status, 200)
  assert.is(((await response.json()) as { data: unknown[] }).data.length, 300)
  assert.is(upstream.open, 0)
  assert.equal(
    recorded.attempts.map(({ provider, outcome }) => `${provider} ${outcome}`),
    ['cohere server', 'one answered'],
  )
})
