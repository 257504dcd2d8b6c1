import { memoryStorage } from '../../adapters/storage/memory.ts'
import { busyMs, roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { routing } from './support/resolve-target.ts'
import type { ErrorAnswer } from './support/responses.ts'
import { catalog, openWorld } from './support/world.ts'

const test = suite('unknown and unreachable models')

const at = (host: string, extra: object = {}) => ({ baseUrl: `http://${host}.test/v1`, ...extra })

test("an unknown model returns a 404 with similar names, in the client's format", async () => {
  const { asked, world } = await routing({ combos: { 'my-combo': ['one/m'] }, aliases: { quick: 'one/m' } })
  assert.is(
    await asked('my-comb'),
    '404 The model "my-comb" does not exist. Did you mean "my-combo"? GET /v1/models lists the available models.',
  )
  assert.match(await asked('quik'), /Did you mean "quick"\?/)
  assert.match(await asked('other'), /Did you mean "one\/other"\?/)
  assert.match(
    await asked('xyzzy-nothing-like-it'),
    /^404 The model "xyzzy-nothing-like-it" does not exist\. Put the provider before the model name, as in "one\/xyzzy-nothing-like-it"\. GET/,
  )
  const chat: ErrorAnswer = await (await world.chat({ model: 'nix' })).json()
  assert.equal([chat.error.type, chat.error.code], ['invalid_request_error', 'model_not_found'])
  const messages: ErrorAnswer = await (await world.messages({ model: 'nix' })).json()
  assert.equal([messages.type, messages.error.type], ['error', 'not_found_error'])
})

test('without any connection, catalog models are suggested, along with the missing connection', async () => {
  const { asked, world } = await routing({
    connections: [],
    catalog: { ...catalog, one: { alias: 'uno', models: [{ id: 'mega' }, { id: 'picture', type: 'image' }] } },
  })
  assert.match(
    await asked('mega'),
    /^404 The model "mega" does not exist\. Did you mean "uno\/mega"\? No provider is connected yet/,
  )
  assert.match(await asked('un/mega'), /Did you mean "uno\/mega"\?/)
  assert.not.match(await asked('picture'), /Did you mean/)
  assert.match(
    await asked('uno/mega'),
    /there is no active connection to "one"\. Ask the operator of this gateway to add or activate one at/,
  )
  await world.api.connections.create({ provider: 'two' })
  assert.match(
    await asked('mega'),
    /Did you mean "uno\/mega"\? It needs a connection to "one"\. Ask the operator of this gateway to add one at/,
  )
})

test("a compatible provider's models are suggested without querying the provider", async () => {
  const lab = { prefix: 'lab', baseUrl: 'http://lab.test/v1' }
  const { upstream, world, asked } = await routing({
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
  assert.is(upstream.calls.length, 0)
})

test('the error for an unknown model suggests a provider that might have it', async () => {
  const lab = { prefix: 'lab', baseUrl: 'http://lab.test/v1' }
  const connections = [{ provider: 'openai-compatible-lab', providerSpecificData: lab }]
  const { asked } = await routing({ connections })
  assert.match(await asked('own'), /^404 .* Put the provider before the model name, as in "lab\/own"\. GET/)
  assert.match(await asked('lba/m'), /^404 .* Did you mean "lab\/m"\? GET/)
  assert.match(await asked('lba/'), /^404 The model "lba\/" does not exist\. GET/)
  const { asked: unconnected } = await routing({ connections: [] })
  assert.match(
    await unconnected('m-of-nobody'),
    /^404 The model "m-of-nobody" does not exist\. No provider is connected yet/,
  )
})

test("if custom models can't be read, the error for an unknown model simply has no suggestion", async () => {
  const { list, ...rest } = memoryStorage()
  const away = async () => {
    throw new Error('away')
  }
  const { asked } = await routing({
    storage: { ...rest, list: (prefix, range) => (prefix === 'custom-models/' ? away() : list(prefix, range)) },
  })
  assert.is(await asked('one/m'), 'one/m')
  assert.match(
    await asked('othr'),
    /^404 The model "othr" does not exist\. Put the provider before the model name, as in "one\/othr"\. GET/,
  )
})

test('the 404 for a model mentions that its provider has no active connection', async () => {
  const { asked } = await routing({ connections: ['one'] })
  assert.match(await asked('two/m'), /^404 .*there is no active connection to "two"\. Ask/)
  assert.not.match(await asked('one/'), /no active connection/)
})

test('the errors for model names show the URLs of a gateway that is mounted below a path', async () => {
  const { post } = await openWorld({ basePath: '/ai', connections: [], combos: { empty: [] } })
  const messageFor = async (model: string) =>
    (await (await post('/ai/v1/chat/completions', { model, messages: [] })).json()).error.message
  assert.match(await messageFor('one/m'), / at \/ai\/api\/connections \(POST \{/)
  assert.match(await messageFor('empty'), / PUT \/ai\/api\/combos\//)
  assert.match(
    await messageFor('openai-compatible-x/m'),
    / add one at \/ai\/api\/connections\. No provider is connected yet, so GET \/ai\/v1\/models lists /,
  )
})

test('the error for a model without a connected provider shows the call that connects the provider', async () => {
  const world = await routing({
    connections: [],
    aliases: { short: 'one/m' },
    catalog: { ...catalog, cloudy: { cloud: 'bedrock', models: [{ id: 'm' }] } },
  })
  const call = '(POST {"provider":"one","apiKey":"<API key>"}).'
  for (const name of ['one/m', 'short'])
    assert.is(
      await world.asked(name),
      `404 The model "${name}" is not available: there is no active connection to "one". Ask the operator of this gateway to add or activate one at /api/connections ${call} ${ONLY_CATALOG}`,
    )
  assert.match(await world.asked('cloudy/m'), ` at /api/connections. ${ONLY_CATALOG}`)
  assert.match(await world.asked('nobody/m'), `"nobody/m" does not exist. ${ONLY_CATALOG}`)
  await world.world.api.connections.create({ provider: 'two' })
  for (const name of ['one/m', 'cloudy/m', 'nobody/m'])
    assert.not.match(await world.asked(name), 'No provider is connected yet')
})

const ONLY_CATALOG =
  'No provider is connected yet, so GET /v1/models lists the whole catalog. You can call a model once its provider is connected.'

test('the error for an unconnected self-hosted server shows the call that connects it and discovers its models', async () => {
  const local = { baseUrl: 'http://localhost:11434/v1', models: [{ id: 'm' }] }
  const { asked } = await routing({ connections: [], catalog: { ...catalog, local } })
  assert.match(await asked('local/m'), ' (POST {"provider":"local","discover":true}).')
})

test('the error for a combo or an alias without a target lists the providers that have no connection', async () => {
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
    '404 The model "old" is not available: there is no active connection to "two" or "three". Ask the operator of this gateway to add or activate one at /api/connections.',
  )
  assert.match(await asked('longer'), /^404 The model "longer" is not available: .* to "two" or "three"\. Ask/)
  assert.match(await asked('short'), /^404 The model "short" is not available: .* to "two"\. Ask/)
  assert.match(await asked('wide'), / "a" or "b" or "c"\. Ask/)
  assert.match(await asked('lab/m'), / to "openai-compatible-lab"\. Ask/)
  assert.match(await asked('lost'), /^404 The model "lost" is not available: no active connection serves it\. Ask/)
})

const wide = () => ['a/m', 'b/m', 'c/m', 'd/m']

test('a misspelled, unconnected provider is suggested along with the missing connection', async () => {
  const { asked } = await routing({
    connections: ['one'],
    catalog: { ...catalog, anthropic: at('claude', { models: [{ id: 'opus' }] }) },
  })
  assert.match(
    await asked('antropic/opus'),
    /^404 .* Did you mean "anthropic\/opus"\? It needs a connection to "anthropic"\. Ask the operator of this gateway to add one at \/api\/connections\. GET/,
  )
  assert.match(await asked('onne/m'), /Did you mean "one\/m"\? GET/)
  assert.not.match(await asked('something/else'), /Did you mean/)
})

test('a catalog model without a connected provider is suggested along with the missing connection', async () => {
  const world = { ...catalog, anthropic: at('claude', { alias: 'ant', models: [{ id: 'opus' }, { id: 'x/opus' }] }) }
  const { asked } = await routing({ connections: ['two'], catalog: world })
  for (const name of ['opus', 'x/opus'])
    assert.is(
      await asked(name),
      `404 The model "${name}" does not exist. Did you mean "ant/${name}"? It needs a connection to "anthropic". Ask the operator of this gateway to add one at /api/connections. GET /v1/models lists the available models.`,
    )
  const lab = { provider: 'openai-compatible-lab', providerSpecificData: { ...at('lab'), prefix: 'lab' } }
  const { asked: besideLab } = await routing({ connections: ['two', lab], catalog: world })
  assert.is(
    await besideLab('opus'),
    '404 The model "opus" does not exist. Put the provider before the model name, as in "lab/opus", or use "ant/opus" with a connection to "anthropic". GET /v1/models lists the available models.',
  )
  assert.match(await besideLab('nobody-knows'), /as in "lab\/nobody-knows"\. GET/)
})

test('the error repeats the requested name of a compatible provider that was never connected', async () => {
  const lab = { provider: 'openai-compatible-lab', providerSpecificData: at('lab') }
  const { asked } = await routing({ connections: ['one', lab], catalog: { ...catalog, openai: at('openai') } })
  for (const provider of ['openai-compatible-studio', 'anthropic-compatible-studio'])
    assert.is(
      await asked(`${provider}/m`),
      `404 The model "${provider}/m" does not exist. It needs a connection to "${provider}". Ask the operator of this gateway to add one at /api/connections. GET /v1/models lists the available models.`,
    )
  assert.match(await asked('openai-compatible-lba/m'), /Did you mean "openai-compatible-lab\/m"\? GET/)
})

test('the error for an alias of an unknown model mentions the alias and suggests similar names', async () => {
  const { asked } = await routing({ aliases: { quick: 'oter', quicker: 'quick', lost: 'lost-as-well' } })
  for (const name of ['quick', 'quicker'])
    assert.is(
      await asked(name),
      `404 The model "${name}" is an alias of "oter", which does not exist. Did you mean "one/other"? GET /v1/models lists the available models.`,
    )
  assert.is(
    await asked('lost'),
    '404 The model "lost" is an alias of "lost-as-well", which does not exist. Put the provider before the model name, as in "one/lost-as-well". GET /v1/models lists the available models.',
  )
})

test('the error for a combo without models says so, even through an alias', async () => {
  const { asked } = await routing({ combos: { none: [] }, aliases: { short: 'none' } })
  for (const name of ['none', 'short'])
    assert.is(
      await asked(name),
      `404 The model "${name}" is not available: the combo "none" has no models. Ask the operator of this gateway to add some with PUT /api/combos/{id}.`,
    )
})

test('among 3,000 models, a long unknown name takes little longer than a short one', async () => {
  const stem = 'an-internal-model-of-a-team-'.repeat(6)
  const enabledModels = Array.from({ length: 3_000 }, (_, index) => `${stem}${index + 10_000}`)
  const lab = { prefix: 'lab', baseUrl: 'http://lab.test/v1', enabledModels }
  const { asked } = await routing({ connections: [{ provider: 'openai-compatible-lab', providerSpecificData: lab }] })

  async function getCost(model: string) {
    const before = busyMs()
    assert.match(await asked(model), /^404 /)
    return busyMs() - before
  }

  const short: number[] = []
  for (let times = 0; times < 6; times++) short.push(await getCost('q'))
  const most = Math.min(...short) + 10
  const long = await roundsUntil(most, () => getCost(`l-b/x${stem}99x9`))
  assert.ok(Math.min(...long) <= most, `${short} ms, then ${long} ms`)
})
