import { hasAdapters } from '../../src/protocols/kinds/endpoint.ts'
import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import { fakeUpstream, getBody, json, never, type Respond } from '../pipeline/support/upstream.ts'
import { getApiKey, openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { answerAt, getSample } from './samples.ts'

const test = suite('every model endpoint, with malformed requests')

/** A model of a provider whose models aren't in the catalog. */
const MODEL = 'one/of-any-kind'

const requested = endpoints.filter(hasAdapters).map((endpoint) => {
  const { path, operation } = endpoint
  const isInPath = path.includes('{model}')
  return {
    path,
    isInPath,
    kind: operation.kind,
    at: (model: string) => path.replace('{model}', model),
    bodyFor: (model: string) => ({ ...getSample(endpoint)?.body, ...(!isInPath && { model }) }),
  }
})

async function open(respond: Respond = ({ url }) => answerAt(url.pathname) ?? json({})) {
  const upstream = fakeUpstream(respond)
  return { upstream, world: await openWorld({ fetch: upstream, connections: ['one'] }) }
}

const malformed: Record<string, BodyInit> = {
  nothing: '',
  null: 'null',
  'an array': '[]',
  'a string': '"a"',
  'a number': '7',
  'a truncated object': '{"model":"one/of-any-kind"',
  'an object with trailing text': '{"model":"one/of-any-kind"} x',
  'invalid UTF-8': new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
  'fields of the wrong types': JSON.stringify({
    model: MODEL,
    input: { a: 1 },
    texts: 7,
    content: 7,
    requests: 7,
    query: { a: 1 },
    documents: 7,
    url: 7,
    urls: 7,
  }),
  'a deeply nested object': `{"model":"${MODEL}","input":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
}

for (const { path, at } of requested)
  test(`POST ${path} rejects a malformed body with a 400 and calls no provider`, async () => {
    const { upstream, world } = await open()
    for (const [label, body] of Object.entries(malformed)) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
      const response = await world.gateway.fetch(new Request(`http://gateway${at(MODEL)}`, init))
      const { error } = (await response.json()) as { error: { message: string } }
      assert.is(response.status, 400, `${label}: ${error.message}`)
      assert.ok(error.message.length > 10, label)
    }
    assert.equal([upstream.calls.length, world.recorded.errors.length], [0, 0])
  })

for (const { path, at, bodyFor, isInPath } of requested.filter(({ isInPath }) => !isInPath))
  test(`POST ${path} returns a 400 without a model`, async () => {
    const { upstream, world } = await open()
    const { model: _, ...body } = bodyFor(MODEL) as { model?: string }
    assert.is(isInPath, false)
    assert.is((await world.post(at(''), body)).status, 400)
    assert.is(upstream.calls.length, 0)
  })

const KEY = getApiKey('one')
const quoting: Record<string, (words: string) => unknown> = {
  openai: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
  cohere: (message) => ({ id: 'e', message }),
  details: (msg) => ({ detail: [{ loc: ['header', 'authorization'], msg, input: msg }] }),
  detail: (detail) => ({ detail }),
  tavily: (error) => ({ detail: { error } }),
  google: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  'a string': (text) => text,
}

for (const { path, at, bodyFor } of requested)
  test(`POST ${path} hides a key that a provider quotes in an error`, async () => {
    for (const status of [200, 400, 401, 404, 422, 429, 500])
      for (const [label, bodyWith] of Object.entries(quoting)) {
        const text = `The key ${KEY} (Bearer ${KEY}) is not known.`
        const body = bodyWith(text)
        const { world } = await open(() =>
          json(typeof body === 'string' ? body : JSON.stringify(body), status, { 'x-echo': KEY }),
        )
        const response = await world.post(at(MODEL), bodyFor(MODEL))
        const shown = `${await response.text()} ${JSON.stringify([...response.headers])}`
        assert.not.match(shown, new RegExp(KEY), `${label} with ${status}`)
        assert.not.match(JSON.stringify(world.recorded), new RegExp(KEY), `${label} with ${status}, in a record`)
      }
  })

const phases: Record<string, Respond> = {
  'before the headers': never,
  'during the body': () =>
    new Response(getBody(['{"id":'], 'hang'), { headers: { 'content-type': 'application/json' } }),
  'during an error body': () => new Response(getBody(['{"error":'], 'hang'), { status: 500 }),
}

for (const { path, at, bodyFor } of requested)
  for (const [phase, respond] of Object.entries(phases))
    test(`POST ${path} aborts the provider call if the client disconnects ${phase}`, async () => {
      const { upstream, world } = await open(respond)
      const controller = new AbortController()
      const replying = world.post(at(MODEL), bodyFor(MODEL), { signal: controller.signal })
      while (upstream.calls.length === 0) await world.clock.advance(0)
      await world.clock.advance(0)
      controller.abort()
      assert.equal([upstream.open, upstream.calls.every(({ signal }) => signal.aborted)], [0, true])
      assert.is((await replying).status, 499)
      assert.equal([world.recorded.errors.length, world.clock.pending()], [0, 0])
    })

const NAMES = [
  '../../x',
  '..',
  '%2e%2e/x',
  '//evil.test/x',
  '@evil.test',
  'x?key=1',
  'x#y',
  'x\\..\\y',
  'x%2f..%2fy',
  'x y',
]

for (const { path, at, bodyFor, isInPath } of requested)
  test(`no model name makes POST ${path} call another URL`, async () => {
    const { upstream, world } = await open()
    const own = await world.post(at(MODEL), bodyFor(MODEL))
    await own.text()
    const [first] = upstream.calls
    assert.ok(first, 'the endpoint calls its provider')
    for (const name of NAMES) {
      const model = `one/${name}`
      const response = await world.post(at(isInPath ? encodeURIComponent(model) : model), bodyFor(model))
      await response.text()
      assert.ok(response.status !== 500, name)
    }
    for (const { url } of upstream.calls) {
      assert.is(url.host, 'one.test', url.href)
      assert.ok(url.pathname.startsWith('/v1'), url.href)
      assert.not.match(url.search, /key=1/)
    }
  })
