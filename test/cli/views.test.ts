import { serveNode } from '../../adapters/mount/node.ts'
import { openManagement } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'
import { runHere } from './run-here.ts'

type Server = Awaited<ReturnType<typeof serveNode>>

const catalog = {
  openai: { name: 'OpenAI', baseUrl: 'http://openai.test/v1', models: [{ id: 'gpt-5-mini' }, { id: 'gpt-5' }] },
  groq: { alias: 'gq', baseUrl: 'http://groq.test/v1', models: [{ id: 'llama' }] },
}

const openGateway = () => openManagement({ catalog, fetch: async () => Response.json({}, { status: 500 }) })

/** Tests commands that show a gateway's state, and the wording of errors. */
const test = suite('the CLI views', { serving: undefined as Server | undefined, url: '', management: openGateway() })

test.before.each(async (context) => {
  context.management = openGateway()
  context.serving = await serveNode(context.management.gateway, { port: 0 })
  context.url = context.serving.url
})

test.after.each(({ serving }) => serving?.close())

test('lists the models that clients can use, and warns if no provider is connected', async ({ url, management }) => {
  const before = await runHere(url, 'models')
  assert.is(
    before.out,
    'MODEL              OWNER\nopenai/gpt-5-mini  openai\nopenai/gpt-5       openai\ngq/llama           gq\n',
  )
  assert.match(
    before.err,
    /^signalbox: warning: No provider is connected, so these are the models in the built-in catalog\./,
  )
  await management.gateway.api.connections.create({ provider: 'groq' })
  await management.gateway.api.combos.create({ name: 'fast', models: ['groq/llama'] })
  await management.gateway.api.settings.update({ requireApiKey: true })
  assert.equal(await runHere(url, 'models'), {
    code: 0,
    out: 'MODEL     OWNER\nfast      combo\ngq/llama  gq\n',
    err: '',
  })
  const { out } = await runHere(url, 'models list --json')
  assert.equal(JSON.parse(out), await management.gateway.api.models.published({ details: true }))
  await runHere(url, 'models create groq/new')
  assert.is((await runHere(url, 'models custom')).out, 'MODEL     TYPE\ngroq/new  llm\n')
  await management.gateway.api.connections.create({ provider: 'lab', baseUrl: 'http://lab.test/v1' })
})

test('lists models of the requested kinds with their prices', async ({ url, management }) => {
  await management.gateway.api.connections.create({
    provider: 'openai',
    prices: { 'gpt-5': { input: 2, output: 10, search: 0.01, images: { '4K': 0.15 } } },
  })
  assert.is(
    (await runHere(url, 'models --q GPT-5 --limit 2')).out,
    'MODEL              OWNER   INPUT  OUTPUT  OTHER PRICES          PRICE SOURCE\n' +
      'openai/gpt-5-mini  openai  -      -       -                     -\n' +
      'openai/gpt-5       openai  2      10      search 0.01, 4K 0.15  connection\n',
  )
  assert.match((await runHere(url, 'models --limit 1')).out, /\nMore: --after 0:openai\/gpt-5-mini\n$/)
  await management.gateway.api.combos.create({ name: 'pictures', kind: 'image', models: ['openai/gpt-5'] })
  assert.is((await runHere(url, 'models --kind image')).out, 'MODEL     OWNER  KIND\npictures  combo  image\n')
  assert.is((await runHere(url, 'models --kind tts')).out, 'No matching models.\n')
  assert.match((await runHere(url, 'models --kind x')).err, /^--kind must be "all" or a comma-separated list of llm/)
})

test('explains where a request would go and what the client would get', async ({ url, management }) => {
  await management.gateway.api.connections.put({ id: 'main', provider: 'openai' })
  await management.gateway.api.combos.create({
    name: 'fast',
    models: ['openai/gpt-5', 'groq/llama', 'openai/gpt-5-mini'],
  })
  const { code, out, err } = await runHere(url, 'explain fast')
  assert.equal([code, err], [0, ''])
  const [titles = '', first = '', next = '', ...rest] = out.split('\n')
  assert.match(titles, /^USE +TARGET +CONNECTION +VIA +WHY$/)
  assert.match(first, /^first +openai\/gpt-5 +OpenAI +fast:fallback +fast: /)
  assert.match(next, /^next +openai\/gpt-5-mini +OpenAI/)
  assert.equal(rest, ['', 'Excluded:', 'COMBO  MODEL       EXCLUDED BY', 'fast   groq/llama  unreachable', ''])

  const away = await runHere(url, 'explain groq/llama')
  assert.is(
    away.out,
    'A client would get a 404: The model "groq/llama" is not available: there is no active connection to "groq". Add or activate one: "signalbox connections create groq --api-key -".\n',
  )
  const body = JSON.parse((await runHere(url, 'explain fast --path /v1/messages --json')).out)
  assert.equal(body, await management.gateway.api.explain({ model: 'fast', path: '/v1/messages' }))
  assert.match(
    (await runHere(url, 'explain fast --path /nowhere')).err,
    /^--path must be one of "\/v1\/chat\/completions"/,
  )
  assert.is((await runHere(url, 'explain')).err, 'Missing <model>. Usage: signalbox explain <model>\n')
  assert.match((await runHere(url, 'explain --help')).out, /^Usage: signalbox explain <model> \[options\]/m)
})

test("shows targets' health, and resets it", async ({ url, management }) => {
  await management.gateway.api.connections.put({ id: 'main', provider: 'openai' })
  assert.match(
    (await runHere(url, 'health')).out,
    /^No recent failures\.\n\nTargets:\nTARGET {2}CONNECTION {2}STATE {2}CALLS\nopenai {2}main {8}ok {5}0\n$/,
  )
  const body = JSON.stringify({ model: 'openai/gpt-5', messages: [{ role: 'user', content: 'Hi' }] })
  const headers = { 'content-type': 'application/json' }
  await management.gateway.fetch(new Request('http://g/v1/chat/completions', { method: 'POST', headers, body }))
  const { out } = await runHere(url, 'health')
  assert.match(out, /^Recent failures:\nLEVEL +TARGET +STATE +REASON +FAILURES/)
  assert.match(out, /^model +openai\/gpt-5 /m)
  assert.match(out, /^openai\/gpt-5 +main +\w+ +\d+ +100%$/m)
  assert.equal(JSON.parse((await runHere(url, 'health --json')).out), await management.gateway.api.health.list())
  assert.is((await runHere(url, 'health reset OpenAI')).out, 'Reset the health of "OpenAI".\n')
  assert.match((await runHere(url, 'health reset nobody')).err, /^There is no connection "nobody"\./)
  assert.is((await runHere(url, 'health reset')).out, 'Reset the health of all targets.\n')
  assert.match((await runHere(url, 'health')).out, /^No recent failures\./)
})

test('shows, replaces, and removes a damaged record', async ({ url, management }) => {
  await management.gateway.api.aliases.set({ alias: 'quick', model: 'openai/gpt-5' })
  const [row] = await management.storage.list('aliases/')
  const key = row?.key ?? ''
  await management.storage.set(key, 'damaged')
  await management.clock.advance(5_000)
  assert.match((await runHere(url, 'health')).out, new RegExp(`Damaged records:\nKEY +PROBLEM\n${key} `))
  assert.match((await runHere(url, ['health', 'record', key])).out, /^stored +damaged$/m)
  const rejected = await runHere(url, ['health', 'repair', key, '--data', '{"alias":"quick"}'])
  assert.equal([rejected.code, rejected.out], [1, ''])
  const repaired = await runHere(url, ['health', 'repair', key, '--data', '{"alias":"quick","model":"openai/gpt-5"}'])
  assert.equal(repaired, { code: 0, out: `Replaced record "${key}".\n`, err: '' })
  await management.storage.set(key, 'damaged')
  await management.clock.advance(5_000)
  assert.is((await runHere(url, ['health', 'remove', key])).out, `Deleted record "${key}".\n`)
})

test('shows providers, and sets how requests are distributed across their connections', async ({ url, management }) => {
  const titles = 'ID      NAME    PREFIX  MODELS  FORMAT\n'
  assert.is(
    (await runHere(url, 'providers')).out,
    `${titles}openai  OpenAI  -       2       openai-chat\ngroq    groq    gq      1       openai-chat\n`,
  )
  assert.match((await runHere(url, 'providers get openai')).out, /^models +gpt-5-mini, gpt-5$/m)
  const updated = await runHere(url, 'providers update groq --strategy round-robin --sticky-limit 2')
  assert.match(updated.out, /^strategy +round-robin\nstickyLimit +2$/m)
  assert.is((await management.gateway.api.providers.get('groq')).strategy, 'round-robin')
  assert.is((await runHere(url, 'providers get opnai')).err, 'There is no provider "opnai". Did you mean "openai"?\n')
  assert.match((await runHere(url, 'providers update groq --strategy best')).err, /^--strategy must be one of/)
})

const rejection: Array<[line: string, says: RegExp]> = [
  ['combos create fast', /^--model is required and must be an array of model names\.$/],
  ['combos create fast openai/a --kind text', /^--kind must be one of "llm"/],
  ['combos create fast openai/a --sticky-limit 0', /^--sticky-limit must be a whole number from 1 to 1000\.$/],
  ['keys create', /^--name is required and must not be blank\.$/],
  [
    'connections create nobody',
    /^Unknown provider "nobody"\. "signalbox providers" lists the known providers\. For any other provider, pass its base URL as --base-url\.$/,
  ],
  [
    'connections create lab --base-url http://a/v1 --prefix openai',
    /^--prefix must not be "openai"\. .* or set --shares-prefix to share it\.$/,
  ],
  ['connections create lab --base-url ftp://a', /^--base-url must be a URL that starts with http/],
  [
    'connections create openai --data {"apiKey":""}',
    /^--api-key must not be blank\. Check that the variable it comes from is set\. For none, omit it\.$/,
  ],
  [
    'connections update main --base-url http://other.test/v1',
    /^--base-url changes where the connection's key is sent, so pass --api-key again as well, or --data with null for none\.$/,
  ],
  ['cloud enable ftp://x', /^<url> must be a URL that starts with http/],
  [
    'cloud check',
    /^No cloud proxy is set up\. Set it with "signalbox cloud enable <url>" or "signalbox settings update --cloud-url <url>"\.$/,
  ],
  [
    'keys --token wrong',
    /^This is not the admin token\. Pass the admin token\. Check --token or SIGNALBOX_ADMIN_TOKEN\.$/,
  ],
]

for (const [line, message] of rejection) {
  test(`errors refer to CLI options and commands: ${line}`, async ({ url, management }) => {
    await management.gateway.api.connections.put({ id: 'main', provider: 'openai', apiKey: 'sk-0123456789-abcd' })
    const { code, out, err } = await runHere(url, line)
    assert.equal([code, out], [1, ''])
    assert.match(err.trimEnd(), message)
  })
}

test('warnings about unresolved names refer to CLI options and commands', async ({ url }) => {
  const combo = await runHere(url, 'combos create fast gpt-5')
  assert.is(
    combo.err,
    'signalbox: warning: No model in this combo resolves yet, so requests for it fail with a 404.\nsignalbox: warning: "gpt-5" doesn\'t resolve yet: no model, combo, or alias has this name.\n',
  )
  const lab = await runHere(url, 'connections create openai-compatable --base-url http://lab.test/v1')
  assert.match(
    lab.err,
    /so "signalbox models" does not query its models, .* create one whose --provider starts with "openai-compatible"\./,
  )
})

const words: Array<[line: string, says: string]> = [
  ['key', 'Unknown command "key". Did you mean "keys"?'],
  ['help', 'Unknown command "help". Did you mean "signalbox --help"?'],
  ['help combos', 'Unknown command "help". Did you mean "signalbox combos --help"?'],
  ['version', 'Unknown command "version". Did you mean "signalbox --version"?'],
  ['serve --port 4100', 'Unknown command "serve". Did you mean "signalbox start"?'],
  ['explane x', 'Unknown command "explane". Did you mean "explain"?'],
]

for (const [line, message] of words)
  test(`suggests a command for an unknown one: ${line}`, async ({ url }) => {
    assert.equal(await runHere(url, line), { code: 2, out: '', err: `${message}\n` })
  })

test('lists all commands if an unknown one resembles none of them', async ({ url }) => {
  for (const word of ['data', 'constructor']) {
    const { code, err } = await runHere(url, word)
    assert.is(code, 2)
    assert.is(
      err,
      `Unknown command "${word}". Commands: init, keys, groups, accounts, connections, combos, aliases, models, providers, usage, live, explain, info, overview, health, settings, cloud, import, openapi, tokens, guards, catalog. Options start with "--"; with npm, put another "--" first: npm start -- --port 4100\n`,
    )
  }
})

test('shows information about the gateway', async ({ url, management }) => {
  await management.gateway.api.keys.create({ name: 'one' })
  const { code, out, err } = await runHere(url, 'info')
  assert.equal([code, err], [0, ''])
  assert.match(out, /^version +0\.1\.0$/m)
  assert.match(out, /^counts\.keys +1$/m)
})
