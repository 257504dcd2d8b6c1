import { serveNode } from '../../adapters/mount/node.ts'
import { listCommands } from '../../src/cli/commands/commands.ts'
import { getCommonOptions } from '../../src/cli/commands/help.ts'
import { openManagement, TOKEN } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'
import { runHere } from './run-here.ts'

type Server = Awaited<ReturnType<typeof serveNode>>

/** Tests options and arguments that don't need a separate process. */
const test = suite('the CLI commands', {
  serving: undefined as Server | undefined,
  url: '',
  management: openManagement(),
})

test.before.each(async (context) => {
  context.management = openManagement()
  context.serving = await serveNode(context.management.gateway, { port: 0 })
  context.url = context.serving.url
})

test.after.each(({ serving }) => serving?.close())

test('lists, creates, updates, and deletes combos', async ({ url, management }) => {
  assert.equal(await runHere(url, ['combos']), {
    code: 0,
    out: 'There are no combos yet. Create one: signalbox combos create <name> <model...>\n',
    err: '',
  })
  await runHere(url, ['combos', 'create', 'fast', 'openai/a', 'openai/b', '--sticky-limit', '2', '--hedge'])
  await runHere(url, ['combos', 'create', '--name', 'wide', '--data', '{"models":[{"model":"openai/c","weight":3}]}'])
  const { combos } = await management.gateway.api.combos.list()
  assert.equal(
    combos.map(({ name, models, stickyLimit, hedge }) => ({ name, models, stickyLimit, hedge })),
    [
      { name: 'fast', models: ['openai/a', 'openai/b'], stickyLimit: 2, hedge: true },
      { name: 'wide', models: [{ model: 'openai/c', weight: 3 }], stickyLimit: undefined, hedge: undefined },
    ],
  )
  const listed = await runHere(url, ['combos', 'list'])
  const lines = listed.out.split('\n').map((line) => line.slice(38))
  assert.equal(lines, [
    'NAME  KIND  STRATEGY  MODELS',
    'fast  llm   fallback  openai/a, openai/b',
    'wide  llm   fallback  openai/c (weight 3)',
    '',
  ])
  const changed = await runHere(url, [
    'combos',
    'update',
    'wide',
    '--model',
    'openai/d',
    '--model=openai/e',
    '--name',
    'w',
  ])
  assert.match(changed.out, /^models +openai\/d, openai\/e$/m)
  const emptied = await runHere(url, ['combos', 'update', 'w', '--data', '-'], { input: '{"models":[]}' })
  assert.equal(
    [emptied.code, emptied.err],
    [0, 'signalbox: warning: The combo has no models, so requests for it fail with a 404.\n'],
  )
  await runHere(url, ['combos', 'delete', 'w'])
  assert.is((await management.gateway.api.combos.list()).combos.length, 1)
})

test('sets every connection field that has an option', async ({ url, management }) => {
  const options = [
    ['--base-url', 'http://10.0.0.5:8000/v1'],
    ['--prefix', 'lab'],
    ['--shares-prefix'],
    ['--format', 'anthropic-messages'],
    ['--priority', '-1.5'],
    ['--model', 'a'],
    ['--model', 'b'],
    ['--api-key', 'sk-0123456789abcdef'],
    ['--paused'],
    ['--draining'],
  ]
  const created = await runHere(url, ['connections', 'create', 'lab', '--name', 'Lab', ...options.flat(), '--json'])
  assert.is(created.code, 0, created.err)
  const { id } = JSON.parse(created.out)
  const { createdAt, updatedAt, ...connection } = await management.gateway.api.connections.get(id)
  assert.equal(connection, {
    id,
    provider: 'lab',
    name: 'Lab',
    isActive: false,
    draining: true,
    priority: -1.5,
    apiKey: '…cdef',
    providerSpecificData: {
      prefix: 'lab',
      sharesPrefix: true,
      enabledModels: ['a', 'b'],
      baseUrl: 'http://10.0.0.5:8000/v1',
      format: 'anthropic-messages',
    },
  })
  const changed = await runHere(url, [
    'connections',
    'update',
    id,
    '--active',
    '--no-draining',
    '--data',
    '{"priority":null}',
  ])
  assert.match(changed.out, /^isActive +true$/m)
  assert.not.match(changed.out, /draining|priority/)
})

test("rejects creating an alias that exists and updating one that doesn't", async ({ url }) => {
  assert.is((await runHere(url, ['aliases', 'create', 'quick', 'openai/a'])).code, 0)
  assert.equal(await runHere(url, ['aliases', 'create', 'quick', 'openai/b']), {
    code: 1,
    out: '',
    err: 'The alias "quick" already exists. To change it, run: signalbox aliases update\n',
  })
  assert.match(
    (await runHere(url, ['aliases', 'update', 'quik', 'openai/b'])).err,
    /no alias "quik"\. Did you mean "quick"\?/,
  )
  const led = await runHere(url, ['aliases', 'update', '--name', 'quick', '--model', 'nowhere'])
  assert.match(led.err, /^signalbox: warning: The alias doesn't resolve yet/)
  assert.is((await runHere(url, ['aliases'])).out, 'ALIAS  MODEL\nquick  nowhere\n')
  assert.is((await runHere(url, ['aliases', 'delete', 'quick'])).code, 0)
})

test('updates only the given custom model fields', async ({ url, management }) => {
  await runHere(url, ['models', 'create', 'lab/vendor/large', '--type', 'embedding'])
  await runHere(url, ['models', 'create', '--provider', 'lab', '--id', 'small'])
  assert.is(
    (await runHere(url, ['models', 'custom'])).out,
    'MODEL             TYPE\nlab/vendor/large  embedding\nlab/small         llm\n',
  )
  const rejected = await runHere(url, ['models', 'update', 'lab/small', '--type', 'fast'])
  assert.match(rejected.err, /^--type must be one of/)
  await runHere(url, ['models', 'update', 'lab/vendor/large', '--type', 'image'])
  const { models } = await management.gateway.api.customModels.list()
  assert.equal(models, [
    { id: 'vendor/large', type: 'image', providerAlias: 'lab' },
    { id: 'small', providerAlias: 'lab' },
  ])
  assert.match((await runHere(url, ['models', 'create', 'small'])).err, /^"small" has no provider/)
  assert.match((await runHere(url, ['models', 'delete', 'lab/smal'])).err, /Did you mean "lab\/small"\?/)
  assert.is((await runHere(url, ['models', 'delete', 'lab/vendor/large'])).code, 0)
})

test('shows and updates the settings', async ({ url, management }) => {
  const changed = await runHere(url, ['settings', 'update', '--require-api-key', '--cloud-url', 'https://c.test/v1'])
  assert.match(changed.out, /^requireApiKey {9}true\ncloudUrl {14}https:\/\/c\.test\nhealth\.failureShare {3}0\.5$/m)
  await runHere(url, ['settings', 'update', '--no-require-api-key', '--data', '{"timeouts":{"idleMs":5000}}'])
  const { requireApiKey, timeouts } = await management.gateway.api.settings.get()
  assert.equal([requireApiKey, timeouts.idleMs], [false, 5_000])
  const { out } = await runHere(url, ['settings', '--json'])
  assert.equal(JSON.parse(out), await management.gateway.api.settings.get())
})

test('prints the complete key only when it is created or requested, otherwise a shortened one', async ({ url }) => {
  const { out: created } = await runHere(url, ['keys', 'create', 'mine'])
  const [key = ''] = /sbx_\S+/.exec(created) ?? []
  assert.is(key.length > 40, true, created)
  assert.match((await runHere(url, ['keys', 'get', 'mine'])).out, key)
  const hint = `${key.slice(0, 6)}…${key.slice(-2)}`
  for (const [action, end] of [
    [['list'], hint],
    [['list', '--json'], hint],
    [['update', 'mine', '--paused'], `…${key.slice(-4)}`],
  ] as const) {
    const { out } = await runHere(url, ['keys', ...action])
    assert.match(out, end)
    assert.not.match(out, key)
  }
  assert.match((await runHere(url, ['keys', 'list', '--json', '--values', 'all'])).out, key)
})

test('asks for an ID if several records have the same name', async ({ url, management }) => {
  const { keys } = management.gateway.api
  const one = await keys.create({ name: 'twin' })
  const other = await keys.create({ name: 'twin' })
  assert.equal(await runHere(url, ['keys', 'delete', 'twin']), {
    code: 1,
    out: '',
    err: `2 keys are named "twin". Use one of their IDs: ${one.id}, ${other.id}.\n`,
  })
  assert.is((await runHere(url, ['keys', 'delete', one.id])).code, 0)
  assert.match((await runHere(url, ['keys', 'get', 'twin'])).out, other.key)
  assert.match((await runHere(url, ['keys', 'get', one.id])).err, /^Key not found\.$/m)
})

test('tables have complete, aligned columns without control characters', async ({ url, management }) => {
  const { keys } = management.gateway.api
  await keys.create({ name: 'a'.repeat(200) })
  await keys.create({ name: '日本語' })
  await keys.create({ name: 'reversed \u202e name' })
  const { out } = await runHere(url, ['keys'])
  const [titles = '', long = '', wide = '', plain = ''] = out.split('\n')
  assert.ok(long.includes(` ${'a'.repeat(200)} `))
  const index = titles.indexOf('STATE')
  assert.equal([long.indexOf('active'), wide.indexOf('active') + 3, plain.indexOf('active')], [index, index, index])
  assert.match(plain, 'reversed  name')
})

const rejection: Array<[args: string[], says: RegExp]> = [
  [['keys', 'lst'], /^"signalbox keys" has no action "lst"\. Did you mean "list"\?$/],
  [
    ['keys', 'rm', 'x'],
    /^"signalbox keys" has no action "rm"\. Actions: list, create, get, (?:[a-z]+, )*update, (?:[a-z]+, )*limits, limits reset, limits settle\.$/,
  ],
  [['keys', 'constructor'], /has no action "constructor"/],
  [['keys', 'update'], /^Missing <key>\. Usage: signalbox keys update <key>$/],
  [['keys', 'update', 'x'], /^Nothing to update\. Use --help to list what you can change\.$/],
  [['keys', 'create', 'a', 'b'], /^Unexpected argument "b" after "signalbox keys create a"\.$/],
  [['keys', 'list', 'a'], /^Unexpected argument "a" after "signalbox keys list"\.$/],
  [['keys', 'list', '--name', 'a'], /^Unknown option "--name"/],
  [['keys', 'update', 'x', '--pausd'], /Did you mean "--paused"\?$/],
  [['keys', 'update', 'x', '--paused=no'], /^--paused doesn't take a value\.$/],
  [['keys', 'create', '--name'], /^--name needs a value, for example: --name app$/],
  [['keys', 'update', 'x', '--active', '--paused'], /^--active and --paused conflict\. Use only one of them\.$/],
  [['keys', 'create', '--data', '{"name"'], /^--data must be a JSON object/],
  [['keys', 'create', '--data', '[]'], /^--data must be a JSON object/],
  [['connections', 'create', 'lab', '--priority', 'low'], /^--priority "low" is not a number\.$/],
  [['connections', 'create', 'lab', '--api-key', '-', '--data', '-'], /^Only one option can be read from stdin/],
  [['keys', '--url', 'localhost:4000'], /^--url must be the absolute URL of a gateway/],
  [['keys', '--url', 'http://me:secret@127.0.0.1'], /^--url must not contain credentials/],
  [['keys', '--token', 'with blanks'], /^--token must be the admin token/],
  [['cloud', 'disable', '--enrollment-token', '-'], /^Unknown option "--enrollment-token"/],
  [
    ['cloud', 'enable', '--enrolment', '-'],
    /^Unknown option "--enrolment"\. It was renamed\. Use "--enrollment-token"\.$/,
  ],
]

for (const [args, message] of rejection) {
  test(`rejects wrong usage: ${args.join(' ')}`, async ({ url }) => {
    const { code, out, err } = await runHere(url, args, { input: '{}' })
    assert.equal([code, out], [1, ''])
    assert.match(err.trimEnd(), message)
    assert.not.match(err, 'secret')
  })
}

test('the error for an empty or missing environment variable contains its name', async ({ url }) => {
  const create = ['connections', 'create', 'openai', '--api-key-env', 'OWN_KEY']
  assert.is((await runHere(url, create)).err, 'The environment variable OWN_KEY is not set.\n')
  assert.is((await runHere(url, create, { env: { OWN_KEY: ' ' } })).err, 'The environment variable OWN_KEY is empty.\n')
  const enable = await runHere(url, ['cloud', 'enable'], { env: { SIGNALBOX_ENROLLMENT_TOKEN: '' } })
  assert.is(enable.err, 'The environment variable SIGNALBOX_ENROLLMENT_TOKEN is empty.\n')
  const former = await runHere(url, ['cloud', 'enable'], { env: { SIGNALBOX_ENROLMENT: 'any' } })
  assert.equal(
    [former.code, former.err],
    [1, 'SIGNALBOX_ENROLMENT has been renamed to SIGNALBOX_ENROLLMENT_TOKEN. Rename it in your environment.\n'],
  )
  const nowhere = await runHere('', ['keys'])
  assert.match(nowhere.err, /^SIGNALBOX_URL must be the absolute URL/)
})

test('reads the admin token from stdin', async ({ url }) => {
  const { code } = await runHere(url, ['keys', '--token', '-'], {
    env: { SIGNALBOX_ADMIN_TOKEN: 'wrong' },
    input: `${TOKEN}\r\n`,
  })
  assert.is(code, 0)
})

test('the error for a gateway URL with /v1 says to leave it off', async ({ url }) => {
  const { code, err } = await runHere(`${url}/v1`, ['keys'])
  assert.is(code, 1)
  assert.is(err, "This gateway doesn't support this command. Leave /v1 off the URL.\n")
})

test('searches keys by name and pages through them, without printing their values', async ({ url, management }) => {
  for (const name of ['app one', 'other', 'app two']) await management.gateway.api.keys.create({ name })
  const listed = await runHere(url, ['keys', 'list', '--search', 'APP', '--limit', '1', '--values', 'none'])
  assert.match(listed.out, /app one .*sbx_..…../)
  assert.not.match(listed.out, /other|app two/)
  const [, after = ''] = /More: --after (\S+)/.exec(listed.out) ?? []
  const next = await runHere(url, ['keys', 'list', '--search', 'app', '--after', after, '--values', 'none', '--json'])
  const { keys } = JSON.parse(next.out)
  assert.equal(
    keys.map(({ name, key }: { name: string; key?: string }) => [name, key]),
    [['app two', undefined]],
  )
  const none = await runHere(url, ['keys', '--search', 'nothing'])
  assert.is(none.out, 'No matching keys.\n')
})

test('no action has an option with the same name as a common option', () => {
  const twice = Object.entries(listCommands()).flatMap(([name, { actions, isLocal = false }]) =>
    Object.entries(actions).flatMap(([text, { fields = {} }]) =>
      Object.keys(getCommonOptions({ isLocal }))
        .filter((option) => Object.hasOwn(fields, option))
        .map((option) => `${name} ${text} --${option}`),
    ),
  )
  assert.equal(twice, [])
})
