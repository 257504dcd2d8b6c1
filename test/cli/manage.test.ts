import { listCommands } from '../../src/cli/commands/commands.ts'
import { assert, suite } from '../support/suite.ts'
import { cleanUp, manage, signalbox, temporaryFolder } from './command.ts'

const TOKEN = 'an admin token of forty characters or so'.replaceAll(' ', '-')

/** All tests in this file share one gateway. Each creates its own records. */
const test = suite('the CLI commands for a running gateway', { url: '' })

test.before(async (context) => {
  const gateway = signalbox(['--data', await temporaryFolder()], { env: { SIGNALBOX_ADMIN_TOKEN: TOKEN } })
  context.url = await gateway.baseUrl()
})

test.after(cleanUp)

/** Runs a command to completion. */
async function run(args: string[], { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {}) {
  const command = signalbox(args, { env: { SIGNALBOX_ADMIN_TOKEN: TOKEN, ...env }, input })
  const { code } = await command.ended
  return { code, out: command.stdout, err: command.stderr }
}

test('creates, shows, pauses, and deletes a key', async ({ url }) => {
  const env = { SIGNALBOX_URL: url }
  const created = await run(['keys', 'create', 'mine'], { env })
  assert.equal([created.code, created.err], [0, ''])
  const [, key = ''] = /^key {8}(sbx_\S+)$/m.exec(created.out) ?? []
  const [, id = ''] = /^id {9}(\S+)$/m.exec(created.out) ?? []
  assert.ok(key && id, created.out)

  const listed = await run(['keys'], { env })
  const [titles = '', line = ''] = listed.out.split('\n')
  const hint = `${key.slice(0, 6)}…${key.slice(-2)}`
  assert.match(titles, /^ID {36}NAME {2,}STATE {3}KEY {8}CREATED$/)
  assert.ok(line.startsWith(`${id}  mine`) && line.includes(`  active  ${hint}  20`), line)
  assert.not.match(listed.out, key)

  const paused = await run(['keys', 'update', 'mine', '--paused'], { env })
  assert.match(paused.out, /^isActive {3}false$/m)
  const json = await run(['keys', 'list', '--json', '--url', url])
  const { body: hints } = await manage(`${url}/api/keys?values=none`, TOKEN)
  assert.equal(JSON.parse(json.out), hints)
  const values = await run(['keys', 'list', '--json', '--values', 'all', '--url', url])
  const { body } = await manage(`${url}/api/keys`, TOKEN)
  assert.equal(JSON.parse(values.out), body)

  assert.equal(await run(['keys', 'delete', 'mine'], { env }), {
    code: 0,
    out: 'Deleted key "mine".\n',
    err: '',
  })
  assert.equal(await run(['keys', 'list', '--json'], { env }), { code: 0, out: '{\n  "keys": []\n}\n', err: '' })
})

test('mints a token with a lifetime in minutes or plain seconds', async ({ url }) => {
  await manage(`${url}/api/accounts`, TOKEN, { method: 'PUT', body: { id: 'user_1' } })
  for (const lifetime of ['15m', '900']) {
    const command = ['tokens', 'mint', '--account', 'user_1', '--expires-in', lifetime, '--json']
    const { code, out, err } = await run(command, { env: { SIGNALBOX_URL: url } })
    assert.equal([code, err], [0, ''])
    const leftMs = Date.parse(JSON.parse(out).expiresAt) - Date.now()
    assert.ok(leftMs > 800_000 && leftMs <= 900_000, `${leftMs} ms`)
  }
})

test('reads a credential from stdin or a variable, and never prints it', async ({ url }) => {
  const env = { SIGNALBOX_URL: url, OWN_KEY: 'sk-fedcba9876543210' }
  const piped = await run(['connections', 'create', 'openai', '--api-key', '-', '--json'], {
    env,
    input: 'sk-0123456789abcdef\n',
  })
  assert.equal([piped.code, JSON.parse(piped.out).apiKey], [0, '…cdef'])
  const named = await run(['connections', 'update', 'OpenAI', '--api-key-env', 'OWN_KEY'], { env })
  assert.match(named.out, /^apiKey +…3210$/m)
  const listed = await run(['connections'], { env })
  assert.match(listed.out, / {2}openai {4}OpenAI {2}active {2}…3210\n/)
  assert.not.match(piped.out + named.out + listed.out, /sk-/)
})

test('a failing command prints one line and exits with 1, or with 2 if it is unknown', async ({ url }) => {
  const env = { SIGNALBOX_URL: url }
  const failures: Array<[args: string[], code: number, says: RegExp]> = [
    [['combos', 'create', 'fast', '--strategy', 'rond'], 1, /^signalbox: --model is required/],
    [['keys', '--token', 'wrong-token'], 1, /This is not the admin token\..* --token or SIGNALBOX_ADMIN_TOKEN\.$/],
    [['cloud', 'check'], 1, /No cloud proxy is set up/],
    [['keys', '--colour'], 1, /Unknown option "--colour"/],
    [['kyes'], 2, /Unknown command "kyes"\. Did you mean "keys"\?/],
    [['data'], 2, /Unknown command "data"\. Commands: init, keys, .*\. Options start with "--"/],
  ]
  await Promise.all(
    failures.map(async ([args, code, message]) => {
      const failed = await run(args, { env })
      assert.equal([failed.code, failed.out], [code, ''], failed.err)
      assert.match(failed.err, /^signalbox: [^\n]+\n$/)
      assert.match(failed.err.trimEnd(), message)
    }),
  )
})

test('the CLI reports the URL of an unreachable gateway, and asks for a missing token', async ({ url }) => {
  const away = await run(['settings'], { env: { SIGNALBOX_URL: 'http://127.0.0.1:9' } })
  assert.is(away.code, 1)
  assert.match(
    away.err,
    /^signalbox: The gateway at http:\/\/127\.0\.0\.1:9 is unreachable \(.+\)\. .* --url or SIGNALBOX_URL\.\n$/,
  )
  const command = signalbox(['settings', '--url', url])
  assert.equal(await command.ended, { code: 1, signal: null })
  assert.match(command.stderr, /^signalbox: Pass the admin token\..* --token or SIGNALBOX_ADMIN_TOKEN\.\n$/)
})

test('commands print help without a running gateway', async () => {
  const help = await run(['--help'])
  const [, list = ''] = /^Commands:\n((?: {2}.+\n)+)/m.exec(help.out) ?? []
  const listed = [...list.matchAll(/^ {2}(\S+) +(.+)$/gm)].map(([, name = '', text = '']) => [name, text])
  assert.equal(listed, [
    ['start', 'Start a gateway (default)'],
    ...Object.entries(listCommands()).map(([name, command]) => [name, command.help]),
  ])
  for (const name of Object.keys(listCommands())) {
    const { code, out } = await run([name, '--help'], { env: { SIGNALBOX_URL: 'nowhere' } })
    assert.is(code, 0)
    const usage =
      { explain: 'explain <model>', import: 'import <action>' }[name] ??
      (/^(?:info|init|live|openapi|overview)$/.test(name) ? `${name} [options]` : `${name} [action]`)
    assert.match(out, new RegExp(`^Usage: signalbox ${usage.replace('[', '\\[')}`, 'm'))
    if (name !== 'import' && name !== 'init') assert.match(out, /^ {2}--url http:\/\/127\.0\.0\.1:4000 /m) // these two don't call a gateway
  }
})
