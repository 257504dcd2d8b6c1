import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'
import { chatAnswer, type ErrorAnswer, messageAnswer } from './support/answers.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { catalog, openWorld, type WorldOptions } from './support/world.ts'

const test = suite('routing')

/** `asked` answers where a model name leads: `<connection's host>/<model>`, or the status and message of the refusal. */
async function routing(options: WorldOptions = {}) {
  const up = fakeUpstream(({ url }) => json(url.pathname.includes('messages') ? messageAnswer() : chatAnswer()))
  const world = await openWorld({ fetch: up, ...options })
  const asked = async (model: string, path = '/v1/chat/completions') => {
    const before = up.calls.length
    const response = await world.post(path, { model, messages: [] })
    const call = up.calls[before]
    if (call) return `${call.provider}/${JSON.parse(call.body).model}`
    return `${response.status} ${((await response.json()) as ErrorAnswer).error.message}`
  }
  return { up, world, asked }
}

const at = (host: string, more: object = {}) => ({ baseUrl: `http://${host}.test/v1`, ...more })

test('a model is asked for by any of the three names of its provider', async () => {
  const catalog = {
    vendor: { baseUrl: 'http://vendor.test/v1', alias: 'v', catalogAlias: 'filed' },
    plain: { baseUrl: 'http://plain.test/v1' },
  }
  const { asked } = await routing({ catalog, connections: ['vendor', 'plain'] })
  for (const model of ['v/m', 'filed/m', 'vendor/m']) assert.is(await asked(model), 'vendor/m')
  assert.is(await asked('plain/m'), 'plain/m')
  const { asked: prefixed } = await routing({
    catalog,
    connections: [{ provider: 'vendor', providerSpecificData: { prefix: ' work ' } }],
  })
  for (const model of ['work/m', 'filed/m', 'vendor/m']) assert.is(await prefixed(model), 'vendor/m')
  assert.match(await prefixed('v/m'), /^404 /, 'the prefix takes the place of the alias')
})

test('ids with slashes are the provider’s, and the longest name that fits is the provider’s name', async () => {
  const { asked } = await routing({
    connections: [
      { provider: 'one', providerSpecificData: at('one') },
      { provider: 'two', providerSpecificData: at('two', { prefix: 'one/team' }) },
      { provider: 'three', providerSpecificData: at('three', { prefix: 'größe/模型' }) },
    ],
  })
  assert.is(await asked('one/vendor/m'), 'one/vendor/m')
  assert.is(await asked('one/team/m'), 'two/m')
  assert.is(await asked('one/team/x/m'), 'two/x/m')
  assert.is(await asked('one/teams/m'), 'one/teams/m')
  assert.is(await asked('one//m'), 'one//m')
  assert.is(await asked('größe/模型/😀'), 'three/😀')
  assert.match(await asked('one/'), /^404 /)
  assert.match(await asked('/one/m'), /^404 /)
  assert.match(await asked('one'), /^404 /)
  assert.match(await asked('ONE/m'), /^404 /)
})

test('connections of a provider are used by priority, then by age, and never while inactive', async () => {
  const connection = (host: string, more: object) => ({ provider: 'one', providerSpecificData: at(host), ...more })
  const failing = fakeUpstream(() => json({ error: { message: 'no' } }, 500))
  const order = await openWorld({
    fetch: failing,
    limits: { maxAttempts: 9 },
    connections: [
      connection('old', {}),
      connection('late', { priority: 7 }),
      connection('off', { priority: 0, isActive: false }),
      connection('first', { priority: -1 }),
      connection('young', {}),
    ],
  })
  const response = await order.chat({})
  assert.is(response.status, 500)
  assert.equal(failing.providers, ['first', 'late', 'old', 'young'])
})

test('an alias leads to a model, to another alias, to a combo', async () => {
  const { asked } = await routing({
    aliases: {
      fast: 'one/m',
      faster: 'fast',
      fastest: 'faster',
      team: 'group',
      'with/slash': 'two/m',
      'one/m2': 'three/x',
    },
    combos: { group: ['three/m', 'one/m'] },
  })
  for (const alias of ['fast', 'faster', 'fastest']) assert.is(await asked(alias), 'one/m')
  assert.is(await asked('team'), 'three/m')
  assert.is(await asked('with/slash'), 'two/m')
  assert.is(await asked('one/m2'), 'three/x', 'an alias goes before a provider')
})

test('a combo goes before an alias of its name', async () => {
  const { asked } = await routing({ aliases: { both: 'one/m' }, combos: { both: ['two/m'] } })
  assert.is(await asked('both'), 'two/m')
})

test('an unknown model is 404 with the nearest names, in the format of the caller', async () => {
  const { asked, world } = await routing({ combos: { 'my-combo': ['one/m'] }, aliases: { quick: 'one/m' } })
  assert.is(
    await asked('my-comb'),
    '404 The model "my-comb" does not exist. Did you mean "my-combo"? GET /v1/models lists all of them.',
  )
  assert.match(await asked('quik'), /Did you mean "quick"\?/)
  assert.match(await asked('other'), /Did you mean "one\/other"\?/)
  assert.match(await asked('xyzzy-nothing-like-it'), /^404 The model "xyzzy-nothing-like-it" does not exist\. GET/)
  const chat: ErrorAnswer = await (await world.chat({ model: 'nix' })).json()
  assert.equal([chat.error.type, chat.error.code], ['invalid_request_error', 'model_not_found'])
  const messages: ErrorAnswer = await (await world.messages({ model: 'nix' })).json()
  assert.equal([messages.type, messages.error.type], ['error', 'not_found_error'])
})

test('while nothing is connected, the models that the catalog lists are suggested, and then what they lack', async () => {
  const { asked, world } = await routing({
    connections: [],
    catalog: { ...catalog, one: { alias: 'uno', models: [{ id: 'mega' }, { id: 'picture', type: 'image' }] } },
  })
  assert.match(await asked('mega'), /^404 The model "mega" does not exist\. Did you mean "uno\/mega"\? GET/)
  assert.match(await asked('un/mega'), /Did you mean "uno\/mega"\?/)
  assert.not.match(await asked('picture'), /Did you mean/)
  assert.match(await asked('uno/mega'), /no active connection to the provider "one"\. Add one with POST/)
  await world.api.connections.create({ provider: 'two' })
  assert.not.match(await asked('mega'), /Did you mean/)
})

test('models of a compatible provider are suggested without asking it', async () => {
  const lab = { prefix: 'lab', baseUrl: 'http://lab.test/v1' }
  const { up, world, asked } = await routing({
    connections: [
      { provider: 'openai-compatible-lab', providerSpecificData: lab },
      {
        provider: 'openai-compatible-box',
        providerSpecificData: { ...lab, prefix: 'box', enabledModels: ['box/tiny'] },
      },
      { provider: 'openai-compatible-off', providerSpecificData: { ...lab, prefix: 'off' }, isActive: false },
    ],
    aliases: { mine: 'lab/from-an-alias' },
    combos: { talk: ['lab/from-a-combo'] },
  })
  for (const providerAlias of ['lab', 'openai-compatible-lab', 'off']) {
    await world.api.customModels.create({ providerAlias, id: `llama-of-${providerAlias}` })
  }
  await world.api.customModels.create({ providerAlias: 'lab', id: 'voice', type: 'tts' })
  assert.match(await asked('llama-of-lab'), /^404 .*Did you mean "lab\/llama-of-lab"/)
  assert.match(await asked('llama-of-openai-compatible-lab'), /Did you mean "lab\/llama-of-openai-compatible-lab"/)
  assert.match(await asked('tinny'), /Did you mean "box\/tiny"\?/)
  assert.match(await asked('from-an-alias'), /Did you mean "lab\/from-an-alias"/)
  assert.match(await asked('from-a-combo'), /Did you mean "lab\/from-a-combo"/)
  assert.not.match(await asked('llama-of-off'), /"off\//)
  assert.not.match(await asked('voice'), /Did you mean/)
  assert.is(up.calls.length, 0)
})

test('custom models that cannot be read cost an unknown model its suggestion, nothing else', async () => {
  const storage = memoryStorage()
  const { asked } = await routing({ storage })
  await storage.set('custom-models/x', 'damaged')
  assert.is(await asked('one/m'), 'one/m')
  assert.match(await asked('othr'), /^404 The model "othr" does not exist\. GET/)
})

test('a provider without an active connection is named', async () => {
  const { asked } = await routing({ connections: ['one'] })
  assert.match(await asked('two/m'), /^404 .*no active connection to the provider "two"\. Add one/)
  assert.not.match(await asked('one/'), /no active connection/)
})

test('a combo or an alias that leads nowhere names the providers that lack a connection', async () => {
  const { asked } = await routing({
    combos: {
      old: ['gone', 'two/m', 'older', 'two/n'],
      older: ['three/m', 'two/x'],
      lost: ['gone', 'one/'],
      wide: wide(),
    },
    aliases: { short: 'two/m', longer: 'old' },
    connections: [
      'one',
      { provider: 'openai-compatible-lab', isActive: false, providerSpecificData: { ...at('lab'), prefix: 'lab' } },
    ],
    catalog: { ...catalog, ...Object.fromEntries(['a', 'b', 'c', 'd'].map((id) => [id, {}])) },
  })
  assert.is(
    await asked('old'),
    '404 The model "old" cannot be reached: there is no active connection to the provider "two" or "three". Add one with POST /api/connections.',
  )
  assert.match(await asked('longer'), /^404 The model "longer" cannot be reached: .* "two" or "three"\. Add/)
  assert.match(await asked('short'), /^404 The model "short" cannot be reached: .* "two"\. Add/)
  assert.match(await asked('wide'), / "a" or "b" or "c"\. Add/)
  assert.match(await asked('lab/m'), / the provider "openai-compatible-lab"\. Add/)
  assert.match(await asked('lost'), /^404 The model "lost" cannot be reached: none of its names belongs to an active/)
})

const wide = () => ['a/m', 'b/m', 'c/m', 'd/m']

test('names of any characters stand in the headers, percent-encoded', async () => {
  const { world } = await routing({
    connections: [{ provider: 'one', providerSpecificData: at('one', { prefix: 'größe, x' }) }],
  })
  const response = await world.chat({ model: 'größe, x/模 型=1' })
  assert.is(response.headers.get('x-signalbox-target'), 'one/%E6%A8%A1%20%E5%9E%8B=1')
  assert.is(response.headers.get('x-signalbox-attempts'), 'one/%E6%A8%A1%20%E5%9E%8B=1=200')
})

test('names without end are cut short in the headers', async () => {
  const { world } = await routing()
  const response = await world.chat({ model: `one/${'模'.repeat(990)}` })
  assert.is(response.status, 200)
  assert.ok([...response.headers].join('').length < 8_000)
})

test('each attempt stands in the headers, in order, and who answered', async () => {
  const up = fakeUpstream(({ provider }) =>
    provider === 'three' ? json(chatAnswer()) : json({}, provider === 'one' ? 503 : 401),
  )
  const world = await openWorld({ fetch: up, combos: { chain: ['one/m', 'two/m', 'three/m'] } })
  const response = await world.chat({ model: 'chain' })
  assert.is(response.headers.get('x-signalbox-target'), 'three/m')
  assert.is(
    response.headers.get('x-signalbox-attempts'),
    'one/m=503:server;via=chain:fallback, two/m=401:credentials, three/m=200',
  )
})

test('the first of two connections that share a name goes first, whatever their providers', async () => {
  const { asked } = await routing({
    connections: [
      { provider: 'two', providerSpecificData: at('two', { prefix: 'shared' }) },
      { provider: 'one', priority: 1, providerSpecificData: at('one', { prefix: 'shared' }) },
    ],
  })
  assert.is(await asked('shared/m'), 'one/m')
})
