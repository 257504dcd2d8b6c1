import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { fileStorage } from '../../adapters/storage/file.ts'
import { assert, suite } from '../support/suite.ts'
import { chat, cleanUp, findToken, manage, signalbox, temporaryFolder } from './command.ts'

const start = suite('signalbox')

start.after(cleanUp)

start('signalbox prints its URLs at each start, but the admin token only on the first', async () => {
  const data = await temporaryFolder()
  const first = signalbox(['--data', data])
  const baseUrl = await first.baseUrl()
  const token = findToken(first)
  assert.match(first.stdout, `OpenAI clients     ${baseUrl}/v1\n`)
  assert.match(token, /^sbx_admin_[\w-]{43}$/)
  assert.match(first.stdout, `\n  ${baseUrl}/admin/#token=${token}\n`)
  assert.is(first.stdout.split(token).length, 3, 'the token is printed once on its own, and once in the dashboard URL')
  assert.is((await fetch(`${baseUrl}/admin/`)).headers.get('content-type'), 'text/html; charset=utf-8')
  assert.is((await manage(`${baseUrl}/api/settings`, token)).status, 200)
  assert.equal(await first.stop(), { code: 0, signal: null })

  const second = signalbox(['--data', data])
  const secondUrl = await second.baseUrl()
  assert.not.match(second.stdout, 'sbx_admin_')
  assert.match(second.stdout, `\n  ${secondUrl}/admin/\n`)
  assert.match(
    second.stdout,
    /token was printed on the first start with this data directory, with or without --demo\. If you lost it, restart with --new-token/,
  )
  assert.is((await manage(`${secondUrl}/api/settings`, token)).status, 200)
  await second.stop()

  const secret = (await readFile(join(data, 'secret'), 'utf8')).trim()
  assert.is(secret.length, 43)
  for (const { stdout, stderr } of [first, second]) {
    assert.not.match(stdout + stderr, secret)
    assert.is(stderr, '')
  }
})

start('signalbox stores a hash of the admin token, never the token itself', async () => {
  const data = await temporaryFolder()
  const command = signalbox(['--data', data])
  await command.baseUrl()
  await command.stop()
  const token = findToken(command)
  const names = await readdir(data)
  for (const name of names) {
    const text = await readFile(join(data, name), 'latin1')
    assert.not.match(text, token.slice('sbx_admin_'.length), name)
  }
  assert.ok(names.includes('admin-token.sha256'))
  if (process.platform !== 'win32') {
    assert.is((await stat(join(data, 'admin-token.sha256'))).mode & 0o777, 0o600)
    for (const name of ['store', 'store.db']) assert.is((await stat(join(data, name))).mode & 0o777, 0o600, name)
  }
})

start('signalbox rejects management requests without the admin token', async () => {
  const command = signalbox(['--data', await temporaryFolder()])
  const baseUrl = await command.baseUrl()
  const token = findToken(command)
  const { body } = await manage(`${baseUrl}/api/keys`, token, { body: { name: 'app' } })
  const wrong = ['', 'x', `${token}x`, token.slice(0, -1), `sbx_admin_${'A'.repeat(43)}`, String(body.key)]
  for (const credential of wrong) {
    assert.is((await manage(`${baseUrl}/api/keys`, credential)).status, 401, `"${credential}" was accepted`)
  }
  await manage(`${baseUrl}/api/settings`, token, { method: 'PATCH', body: { requireApiKey: true } })
  const asClient = await chat(baseUrl, 'openai/x', { authorization: `Bearer ${token}` })
  assert.is(asClient.status, 401, 'the admin token is not accepted for model requests')
  await command.stop()
})

start('signalbox on loopback accepts only local hostnames and those in --allowed-host', async () => {
  const command = signalbox(['--data', await temporaryFolder(), '--allowed-host', 'gateway.example'])
  const { port } = new URL(await command.baseUrl())
  const askAs = (host: string) =>
    new Promise<string>((resolve, reject) => {
      const options = { port, path: '/v1/models', headers: { host }, agent: false }
      const respond = async (response: IncomingMessage) => resolve(`${response.statusCode} ${await text(response)}`)
      get(options, respond).on('error', reject)
    })
  for (const host of ['gateway.example', `Gateway.Example:${port}`, 'localhost', '127.0.0.1'])
    assert.match(await askAs(host), /^200 /, host)
  assert.match(await askAs('evil.example'), /^403 .*To accept it, restart with --allowed-host and this hostname\./)
  await command.stop()
})

for (const [args, status] of [
  [[], 404],
  [['--dashboard'], 200],
] as const) {
  start(
    `signalbox on a network address returns ${status} for /admin/ ${args.length > 0 ? 'with' : 'without'} --dashboard`,
    async () => {
      const data = await temporaryFolder()
      const command = signalbox(['--data', data, '--host', '0.0.0.0', '--open', ...args])
      const baseUrl = await command.baseUrl()
      assert.is((await fetch(`${baseUrl}/admin/`)).status, status)
      assert.is(command.stdout.includes('/admin/'), status === 200)
      assert.is((await (await fetch(`${baseUrl}/`)).text()).includes(`${baseUrl}/admin/`), status === 200)
      await command.stop()
    },
  )
}

start('signalbox --log json writes one line of JSON per request to stdout, and nothing else', async () => {
  const command = signalbox(['--data', await temporaryFolder(), '--demo', '--log', 'json'])
  const [, baseUrl = ''] = await command.printed(/OpenAI clients +(\S+)\/v1/)
  for (const model of ['demo', 'nothing/known']) {
    await (await chat(baseUrl, model)).text()
    await command.printed(new RegExp(`"asked":"${model}".*\n`))
  }
  await command.stop()
  const lines = command.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(
    lines.map(({ asked, status }) => [asked, status]),
    [
      ['demo', 200],
      ['nothing/known', 404],
    ],
  )
  assert.not.match(command.stdout, 'sbx_admin_')
})

start('signalbox --new-token replaces the admin token, even for a running gateway', async () => {
  const data = await temporaryFolder()
  const first = signalbox(['--data', data])
  const baseUrl = await first.baseUrl()
  assert.is((await manage(`${baseUrl}/api/settings`, findToken(first))).status, 200)
  const second = signalbox(['--data', data, '--new-token'])
  const secondUrl = await second.baseUrl()
  assert.not.equal(findToken(second), findToken(first))
  for (const url of [baseUrl, secondUrl]) {
    assert.is((await manage(`${url}/api/settings`, findToken(first))).status, 401)
    assert.is((await manage(`${url}/api/settings`, findToken(second))).status, 200)
  }
  await Promise.all([first.stop(), second.stop()])
})

start('signalbox uses the admin token from the environment and never prints it', async () => {
  const data = await temporaryFolder()
  const token = 'a-token-of-the-operator-0123456789'
  const command = signalbox(['--data', data], { env: { SIGNALBOX_ADMIN_TOKEN: token } })
  const baseUrl = await command.baseUrl()
  assert.is((await manage(`${baseUrl}/api/settings`, token)).status, 200)
  assert.is((await manage(`${baseUrl}/api/settings`, `${token}x`)).status, 401)
  assert.not.match(command.stdout + command.stderr, token)
  assert.not.match(command.stdout, 'sbx_admin_')
  assert.not.ok((await readdir(data)).includes('admin-token.sha256'))
  await command.stop()
})

start('signalbox restores its data after a restart, encrypted with the secret from the environment', async () => {
  const data = await temporaryFolder()
  const env = { SIGNALBOX_SECRET: 'a secret of the operator, long enough' }
  const first = signalbox(['--data', data], { env })
  const baseUrl = await first.baseUrl()
  const token = findToken(first)
  const connection = { provider: 'openai', apiKey: 'sk-canary-0123456789' }
  await manage(`${baseUrl}/api/connections`, token, { body: connection })
  await manage(`${baseUrl}/api/keys`, token, { body: { name: 'app' } })
  await first.stop()

  const second = signalbox(['--data', data], { env })
  const secondUrl = await second.baseUrl()
  const { body } = await manage(`${secondUrl}/api/connections`, token)
  assert.match(JSON.stringify(body), '…6789')
  assert.match(JSON.stringify(await manage(`${secondUrl}/api/keys`, token)), '"name":"app"')
  await second.stop()
  assert.not.ok((await readdir(data)).includes('secret'), 'no other secret is created')
  for (const { stdout, stderr } of [first, second]) assert.not.match(stdout + stderr, /canary|of the operator/)
})

start("signalbox starts even if a key can't be decrypted, and reports the key", async () => {
  const data = await temporaryFolder()
  const first = signalbox(['--data', data])
  const baseUrl = await first.baseUrl()
  const token = findToken(first)
  await manage(`${baseUrl}/api/keys`, token, { body: { name: 'team' } })
  await first.stop()
  const storage = fileStorage({ path: data, logger: false })
  const [stored] = await storage.list('keys/')
  const { order, record } = JSON.parse(stored?.value ?? '')
  await storage.set(stored?.key ?? '', JSON.stringify({ order, record: { ...record, sealedKey: 'AAAA.AAAA' } }))
  await storage.close?.()

  const second = signalbox(['--data', data])
  const { body } = await manage(`${await second.baseUrl()}/api/keys`, token)
  assert.match(JSON.stringify(body), /cannot be decrypted/)
  assert.match(second.stderr, /^signalbox: .*team: The key cannot be decrypted because .*Delete it/m)
  await second.stop()
})

start('signalbox applies its config file, and listens on the network if the file requires keys', async () => {
  const folder = await temporaryFolder()
  const config = join(folder, 'signalbox.yaml')
  const key = `sbx_${'c'.repeat(40)}`
  await writeFile(
    config,
    [
      'settings: { requireApiKey: true }',
      'connections: { main: { provider: openai, apiKey: "$' + '{MY_KEY}" } }',
      'combos: { fast: [openai/gpt-5-mini] }',
      'keys: { app: { key: "$' + '{APP_KEY}" } }',
    ].join('\n'),
  )
  const env = { MY_KEY: 'sk-canary-0123456789', APP_KEY: key }
  const args = ['--data', join(folder, 'data'), '--config', config, '--host', '0.0.0.0']
  for (let time = 0; time < 2; time++) {
    const command = signalbox(args, { env })
    const baseUrl = await command.baseUrl()
    assert.is((await fetch(`${baseUrl}/v1/models`)).status, 401)
    const listed = await fetch(`${baseUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    const { data } = (await listed.json()) as { data: Array<{ id: string }> }
    assert.is(data[0]?.id, 'fast')
    assert.not.match(command.stdout, /WARNING|need no API key|canary/)
    assert.is(command.stderr, '')
    await command.stop()
  }
})

start("signalbox --open listens on the network with a warning, even if keys aren't required", async () => {
  const command = signalbox(['--data', await temporaryFolder(), '--host', '0.0.0.0', '--open'])
  await command.baseUrl()
  assert.match(command.stdout, /WARNING: 0\.0\.0\.0 is open to the network, and clients need no API key\./)
  await command.stop()
})

start('signalbox connects providers from environment variables, and removes connections without one', async () => {
  const data = await temporaryFolder()
  const env = { OPENAI_API_KEY: 'sk-canary-0123456789', ANTHROPIC_API_KEY: 'sk-ant-canary-0123456789' }
  const first = signalbox(['--data', data], { env })
  const token = await first.baseUrl().then(() => findToken(first))
  const shown = JSON.stringify(await manage(`${await first.baseUrl()}/api/connections`, token))
  assert.match(shown, /"id":"env-openai".*"name":"OpenAI from OPENAI_API_KEY"/)
  assert.match(first.stdout, /OPENAI_API_KEY: connected "openai" as "env-openai"$/m)
  assert.match(first.stdout, /ANTHROPIC_API_KEY: connected "anthropic"/)
  assert.not.match(first.stdout + first.stderr, 'canary')
  await first.stop()

  for (const args of [['--no-env'], ['--demo'], []]) {
    const { OPENAI_API_KEY } = env
    const later = signalbox(['--data', data, ...args], { env: { OPENAI_API_KEY } })
    const { body } = await manage(`${await later.baseUrl()}/api/connections`, token)
    const ids = (body.connections as Array<{ id: string }>).map(({ id }) => id).filter((id) => id.startsWith('env-'))
    assert.equal(ids, args.length === 0 ? ['env-openai'] : [], args.join(' '))
    assert.is(later.stdout.includes('OPENAI_API_KEY: connected'), args.length === 0)
    await later.stop()
  }
})

start('signalbox on loopback says that clients need no key and that no provider is connected', async () => {
  const command = signalbox(['--data', await temporaryFolder()])
  await command.baseUrl()
  assert.match(
    command.stdout,
    /Clients need no API key yet, so every program on this machine can use your connections\. To require API keys:/,
  )
  assert.match(command.stdout, /No provider is connected yet\. Until then, \/v1\/models lists the built-in catalog\./)
  assert.not.match(command.stdout, 'WARNING')
  await command.stop()
})

start('after a demo run, signalbox says where the admin token was printed', async () => {
  const data = await temporaryFolder()
  const demo = signalbox(['--demo', '--data', data])
  await demo.baseUrl()
  assert.is(findToken(demo).length, 53)
  await demo.stop()
  const plain = signalbox(['--data', data])
  await plain.baseUrl()
  assert.match(
    plain.stdout,
    /printed on the first start with this data directory, with or without --demo\. If you lost it, restart with --new-token\./,
  )
  await plain.stop()
})
