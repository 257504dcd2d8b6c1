import { HttpResponse, http } from 'msw'
import type { Gateway } from '../../src/gateway.ts'
import type { Kind } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { catalog, get, getIds, open } from './open-gateway.ts'

const test = suite('GET /v1/models/{id} for unlisted names that work')

const reply = http.post('*/chat/completions', async ({ request }) => {
  const { model }: { model?: string } = Object(await request.json())
  return HttpResponse.json({
    id: 'x',
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  })
})

const send = (gateway: Gateway, model: string) =>
  get(gateway, '/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  })

/** Opens a gateway with a keyless server, two accounts at one provider, and names that resolve to them. */
async function openServed() {
  const opened = open({
    handlers: [reply],
    catalog: { acme: { ...catalog.acme, alias: 'ac', baseUrl: 'http://acme.test/v1' } },
  })
  const { api } = opened.gateway
  await api.connections.create({ provider: 'openai-compatible-lab', prefix: 'lab', baseUrl: 'http://lab.test/v1' })
  await api.connections.create({ provider: 'acme', prefix: 'one', apiKey: 'sk-1' })
  await api.connections.create({ provider: 'acme', prefix: 'two', apiKey: 'sk-2' })
  await api.combos.create({ name: 'team', models: ['two/chat'] })
  await api.aliases.set({ alias: 'quick', model: 'lab/other' })
  await api.aliases.set({ alias: 'best', model: 'team' })
  return opened
}

for (const [label, name, owner] of [
  ['a model of a keyless compatible connection', 'lab/m', 'lab'],
  ['the same model under its provider’s id', 'openai-compatible-lab/m', 'lab'],
  ['the prefix of a second connection to the same provider', 'two/chat', 'two'],
  ['the id of a provider that has another prefix', 'acme/chat', 'one'],
  ['the catalog’s alias of a provider that has another prefix', 'ac/chat', 'one'],
  ["a model that isn't in the catalog yet", 'one/chat-2', 'one'],
  ['an alias for a model', 'quick', 'lab'],
  ['an alias for a combo', 'best', 'combo'],
] as const) {
  test(`${label} is found as a single model, and requests for it work`, async () => {
    const { gateway } = await openServed()
    assert.not.ok((await getIds(gateway, '/v1/models')).includes(name), "the listing doesn't contain the name")
    assert.is((await send(gateway, name)).status, 200)
    const response = await get(gateway, `/v1/models/${name}`)
    assert.is(response.status, 200)
    assert.equal(await response.json(), { id: name, object: 'model', created: 1_700_000_000, owned_by: owner })
  })
}

test('a model is found by its name with Google’s prefix', async () => {
  const { gateway } = await openServed()
  for (const [id, methods] of [
    ['lab/m', ['generateContent', 'streamGenerateContent', 'countTokens']],
    ['two/vectors', undefined],
  ] as const) {
    const response = await get(gateway, `/v1beta/models/models/${id}`)
    const { name, supportedGenerationMethods }: { name: string; supportedGenerationMethods?: Kind[] } =
      await response.json()
    assert.equal([name, supportedGenerationMethods], [`models/${id}`, methods])
  }
})

for (const name of ['nobody/m', 'm', 'lab', 'lab/', 'lost'] as const) {
  test(`the name "${name}", which doesn't resolve, returns a 404 from both endpoints`, async () => {
    const { gateway } = await openServed()
    await gateway.api.aliases.set({ alias: 'lost', model: 'nobody/m' })
    assert.is((await send(gateway, name)).status, 404)
    assert.is((await get(gateway, `/v1/models/${name}`)).status, 404)
  })
}

test("a model missing from its server's recent list returns a 404", async () => {
  const { gateway } = open({ handlers: [http.get('http://up.test/models', () => HttpResponse.json([{ id: 'm' }]))] })
  await gateway.api.connections.create({
    provider: 'openai-compatible',
    apiKey: 'sk-1',
    prefix: 'x',
    baseUrl: 'http://up.test',
  })
  assert.is((await get(gateway, '/v1/models/x/m')).status, 200)
  assert.is((await get(gateway, '/v1/models/x/none')).status, 404)
})
