import { readdir, readFile, stat } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { fileStorage } from '../../adapters/storage/file.ts'
import { assert, suite } from '../support/suite.ts'
import { chat, cleanUp, manage, signalbox, temporaryFolder, tokenIn } from './command.ts'

const start = suite('signalbox')

start.after(cleanUp)

start('prints the base URLs and the admin token on the first start, the token once and never again', async () => {
  const data = await temporaryFolder()
  const first = signalbox(['--data', data])
  const baseUrl = await first.baseUrl()
  const token = tokenIn(first)
  assert.match(first.stdout, `OpenAI clients     ${baseUrl}/v1\n`)
  assert.match(token, /^sbx_admin_[\w-]{43}$/)
  assert.is(first.stdout.split(token).length, 2, 'the token stands there once')
  assert.is((await manage(`${baseUrl}/api/settings`, token)).status, 200)
  assert.equal(await first.stop(), { code: 0, signal: null })

  const second = signalbox(['--data', data])
  const secondUrl = await second.baseUrl()
  assert.not.match(second.stdout, 'sbx_admin_')
  assert.match(second.stdout, /token was printed on the first start\. If it is lost, start with --new-token/)
  assert.is((await manage(`${secondUrl}/api/settings`, token)).status, 200)
  await second.stop()

  const secret = (await readFile(join(data, 'secret'), 'utf8')).trim()
  assert.is(secret.length, 43)
  for (const { stdout, stderr } of [first, second]) {
    assert.not.match(stdout + stderr, secret)
    assert.is(stderr, '')
  }
})

start('keeps the digest of the token and nothing from which the token could be told', async () => {
  const data = await temporaryFolder()
  const command = signalbox(['--data', data])
  await command.baseUrl()
  await command.stop()
  const token = tokenIn(command)
  const names = await readdir(data)
  for (const name of names) {
    const text = await readFile(join(data, name), 'latin1')
    assert.not.match(text, token.slice('sbx_admin_'.length), name)
  }
  assert.ok(names.includes('admin-token.sha256'))
  if (process.platform !== 'win32') {
    assert.is((await stat(join(data, 'admin-token.sha256'))).mode & 0o777, 0o600)
    assert.is((await stat(join(data, 'store'))).mode & 0o777, 0o600)
  }
})

start('lets nobody manage it without the token', async () => {
  const command = signalbox(['--data', await temporaryFolder()])
  const baseUrl = await command.baseUrl()
  const token = tokenIn(command)
  const { body } = await manage(`${baseUrl}/api/keys`, token, { body: { name: 'app' } })
  const wrong = ['', 'x', `${token}x`, token.slice(0, -1), `sbx_admin_${'A'.repeat(43)}`, String(body.key)]
  for (const credential of wrong) {
    assert.is((await manage(`${baseUrl}/api/keys`, credential)).status, 401, `"${credential}" was let in`)
  }
  await manage(`${baseUrl}/api/settings`, token, { method: 'PATCH', body: { requireApiKey: true } })
  const asClient = await chat(baseUrl, 'openai/x', { authorization: `Bearer ${token}` })
  assert.is(asClient.status, 401, 'the admin token opens no model request')
  await command.stop()
})

start('answers on loopback by the names that it was told', async () => {
  const command = signalbox(['--data', await temporaryFolder(), '--allowed-host', 'gateway.example'])
  const { port } = new URL(await command.baseUrl())
  const askAs = (host: string) =>
    new Promise<string>((resolve, reject) => {
      const options = { port, path: '/v1/models', headers: { host }, agent: false }
      const answer = async (response: IncomingMessage) => resolve(`${response.statusCode} ${await text(response)}`)
      get(options, answer).on('error', reject)
    })
  for (const host of ['gateway.example', `Gateway.Example:${port}`, 'localhost', '127.0.0.1'])
    assert.match(await askAs(host), /^200 /, host)
  assert.match(await askAs('evil.example'), /^403 .*To let it in, start with --allowed-host and its name\./)
  await command.stop()
})

start('replaces the token when told to, also for a gateway that is running', async () => {
  const data = await temporaryFolder()
  const first = signalbox(['--data', data])
  const baseUrl = await first.baseUrl()
  assert.is((await manage(`${baseUrl}/api/settings`, tokenIn(first))).status, 200)
  const second = signalbox(['--data', data, '--new-token'])
  const secondUrl = await second.baseUrl()
  assert.not.equal(tokenIn(second), tokenIn(first))
  for (const url of [baseUrl, secondUrl]) {
    assert.is((await manage(`${url}/api/settings`, tokenIn(first))).status, 401)
    assert.is((await manage(`${url}/api/settings`, tokenIn(second))).status, 200)
  }
  await Promise.all([first.stop(), second.stop()])
})

start('takes the token of the environment and never prints it', async () => {
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

start('has everything again after a restart, sealed with the secret of the environment', async () => {
  const data = await temporaryFolder()
  const env = { SIGNALBOX_SECRET: 'a secret of the operator, long enough' }
  const first = signalbox(['--data', data], { env })
  const baseUrl = await first.baseUrl()
  const token = tokenIn(first)
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
  assert.not.ok((await readdir(data)).includes('secret'), 'no other secret is made')
  for (const { stdout, stderr } of [first, second]) assert.not.match(stdout + stderr, /canary|of the operator/)
})

start('tells of a key that cannot be opened, and starts', async () => {
  const data = await temporaryFolder()
  const first = signalbox(['--data', data])
  const baseUrl = await first.baseUrl()
  const token = tokenIn(first)
  await manage(`${baseUrl}/api/keys`, token, { body: { name: 'team' } })
  await first.stop()
  const storage = fileStorage({ path: data, logger: false })
  const [stored] = await storage.list('keys/')
  const { order, record } = JSON.parse(stored?.value ?? '')
  await storage.set(stored?.key ?? '', JSON.stringify({ order, record: { ...record, sealedKey: 'AAAA.AAAA' } }))
  await storage.close?.()

  const second = signalbox(['--data', data])
  const { body } = await manage(`${await second.baseUrl()}/api/keys`, token)
  assert.match(JSON.stringify(body), /cannot be opened/)
  assert.match(second.stderr, /^signalbox: .*team: The key cannot be opened: .*Delete it/m)
  await second.stop()
})
