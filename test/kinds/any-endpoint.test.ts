import { hasAdapters } from '../../src/protocols/kinds/endpoint.ts'
import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { answerAt, getJson, getSample } from './samples.ts'

const test = suite('all endpoints with their own format, with arbitrary requests and responses')

/** An unknown model at an OpenAI-compatible provider. */
const MODEL = 'one/of-any-kind'
const SECRET = 'secret-of-one'

interface Sent {
  at: string
  body: Record<string, unknown>
}

const requested = endpoints.filter(hasAdapters).map((endpoint): Sent => {
  const isInPath = endpoint.path.includes('{model}')
  const { body = {} } = getSample(endpoint) ?? {}
  return { at: endpoint.path.replace('{model}', MODEL), body: { ...(!isInPath && { model: MODEL }), ...body } }
})

const respond = () =>
  fakeUpstream(({ url }) => {
    return answerAt(url.pathname) ?? json({ error: { message: `There is nothing at ${url.pathname}` } }, 404)
  })

for (const { at, body } of requested) {
  test(`${at} returns a response, and calls only the connection's URL with its key`, async () => {
    const upstream = respond()
    const { post, recorded } = await openWorld({ fetch: upstream, connections: ['one'] })
    const response = await post(at, body, { headers: { authorization: 'Bearer of-the-client', host: 'evil.test' } })
    assert.is(response.status, 200, await response.clone().text())
    assert.is(response.headers.get('x-signalbox-target'), 'one/of-any-kind')
    assert.is(upstream.calls[0]?.url.host, 'one.test')
    assert.is(upstream.calls[0]?.headers.get('authorization'), `Bearer ${SECRET}`)
    assert.equal(recorded.errors, [])
  })

  test(`${at} sends the key only to the connection's URL, whatever fields the body contains`, async () => {
    const upstream = respond()
    const { post } = await openWorld({ fetch: upstream, connections: ['one'] })
    const address = 'http://evil.test/v1'
    const names = [
      'baseUrl',
      'base_url',
      'api_base',
      'url_base',
      'endpoint',
      'host',
      'path',
      'headers',
      'provider_options',
    ]
    for (const name of names) {
      const value =
        name === 'headers' ? { host: 'evil.test' } : name === 'provider_options' ? { baseUrl: address } : address
      await post(at, { ...body, [name]: value })
    }
    for (const { url } of upstream.calls) assert.is(url.host, 'one.test')
  })

  test(`${at} falls back to a combo's next provider and names it in the response`, async () => {
    const given = respond()
    const endpoint = endpoints.find(({ path }) => path.replace('{model}', MODEL) === at)
    const isPaid = endpoint?.operation.isPaidOnAcceptance ?? false
    const failure = isPaid ? json({ error: 'busy' }, 503, { 'retry-after': '1' }) : json({ error: 'broken' }, 500)
    const upstream = fakeUpstream((call) => (call.provider === 'two' ? failure : given(call.url)))
    const { post } = await openWorld({
      fetch: upstream,
      connections: ['one', 'two'],
      combos: { pool: { models: ['two/of-any-kind', MODEL], kind: endpoint?.operation.kind ?? 'llm' } },
    })
    const response = await post(at.replace(MODEL, 'pool'), { ...body, ...('model' in body && { model: 'pool' }) })
    assert.is(response.status, 200, await response.clone().text())
    assert.is(response.headers.get('x-signalbox-target'), 'one/of-any-kind')
    assert.match(response.headers.get('x-signalbox-attempts') ?? '', /^two\/of-any-kind=50[03]:\S+;\S+ one/)
  })

  test(`${at} rejects malformed bodies without a gateway error`, async () => {
    const upstream = respond()
    const { post, recorded } = await openWorld({ fetch: upstream, connections: ['one'] })
    for (const text of [
      '',
      '[]',
      '1',
      'null',
      '{',
      '{"model"',
      '"x"',
      `{"model":${'['.repeat(100)}${']'.repeat(100)}}`,
    ])
      assert.is((await post(at, text)).status, 400, text)
    assert.is(upstream.calls.length, 0)
    const random = createRandom(7)
    const values: unknown[] = [
      null,
      0,
      -1,
      1.5,
      '',
      'x',
      true,
      [],
      [[]],
      [null],
      {},
      { a: 1 },
      [1, 'x'],
      [{}],
      'x'.repeat(99),
    ]
    for (let times = 0; times < 300; times++) {
      const strange = { ...body }
      for (const name of Object.keys(body))
        if (name !== 'model' && random.below(2) === 0) strange[name] = values[random.below(values.length)]
      strange[`more${random.below(3)}`] = values[random.below(values.length)]
      const response = await post(at, strange)
      const shown = JSON.stringify(strange).slice(0, 200)
      assert.ok(
        response.status === 502 || response.status < 500,
        `${response.status} for ${shown} ${await response.text()}`,
      )
    }
    assert.equal(recorded.errors, [])
  })

  test(`${at} treats malformed responses as provider failures, never as gateway errors`, async () => {
    const random = createRandom(8)
    const values: unknown[] = [
      null,
      0,
      '',
      'x',
      [],
      {},
      [null],
      [[1]],
      [{}],
      { data: [] },
      { results: {} },
      { data: [{ index: 0 }] },
    ]
    const upstream = fakeUpstream(({ url }) => {
      const input = { ...(getJson(url.pathname) as Record<string, unknown>) }
      for (const name of Object.keys(input))
        if (random.below(2) === 0) input[name] = values[random.below(values.length)]
      return json(random.below(4) === 0 ? values[random.below(values.length)] : input)
    })
    const { post, recorded, clock } = await openWorld({ fetch: upstream, connections: ['one'] })
    for (let times = 0; times < 200; times++) {
      const { status } = await post(at, body)
      assert.ok(status === 200 || (status >= 400 && status !== 500), String(status))
      await clock.advance(60_000)
    }
    assert.equal(recorded.errors, [])
  })

  test(`/api/explain supports ${at}`, async () => {
    const { api } = await openWorld({ fetch: respond(), connections: ['one'] })
    const path = at.replace(MODEL, '{model}')
    const { targets } = await api.explain({ model: MODEL, path, body })
    assert.equal(
      targets.map(({ use, provider }) => `${use} ${provider}`),
      ['first one'],
    )
  })
}
