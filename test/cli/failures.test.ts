import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { formerStore } from '../storage/support/former-store.ts'
import { assert, suite } from '../support/suite.ts'
import { cleanUp, findToken, signalbox, temporaryFolder } from './command.ts'

interface Failure {
  args: string[]
  env?: Record<string, string>
  code: number
  message: RegExp
}

const failures = suite('startup failures', { used: '', port: 0, server: createServer() })

/** Creates a data folder from a previous run, with a secret that the gateway created. */
failures.before(async (context) => {
  context.used = await temporaryFolder()
  const command = signalbox(['--data', context.used])
  await command.baseUrl()
  await command.stop()
  await new Promise<void>((resolve) => context.server.listen(0, '127.0.0.1', resolve))
  context.port = (context.server.address() as AddressInfo).port
})

failures.after(async ({ server }) => {
  server.close()
  await cleanUp()
})

/** Checks that the command prints a single line, with the fix, and exits with the code. */
async function expectFailure({ args, env = {}, code, message }: Failure): Promise<void> {
  const command = signalbox(args, { env })
  const label = `signalbox ${args.join(' ')}`
  const ended = await Promise.race([command.ended, command.baseUrl().then(() => 'it started')])
  assert.equal(ended, { code, signal: null }, `${label}: ${command.stderr}`)
  assert.match(command.stderr, /^signalbox: [^\n]+\n$/, label)
  assert.match(command.stderr, message, label)
  assert.not.match(command.stderr, /Could not start|Error\b/, label)
  assert.is(command.stdout, '', label)
}

failures('signalbox reports an unknown option and exits with 2', () =>
  expectFailure({ args: ['--prot', '1'], code: 2, message: /Unknown option "--prot"\. Did you mean "--port"\?/ }),
)

failures("signalbox suggests a fix if it can't listen on the port or host", async ({ used, port }) => {
  const withData = (...args: string[]) => ['--data', used, ...args]
  const taken = new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is already in use\\. .* --port ${port + 1}`)
  await Promise.all([
    expectFailure({ args: withData('--port', String(port)), code: 1, message: taken }),
    expectFailure({
      args: withData('--host', '203.0.113.7'),
      code: 1,
      message: /"203\.0\.113\.7" is not an address of this machine/,
    }),
    expectFailure({
      args: withData('--host', 'no-such-host.invalid'),
      code: 1,
      message: /"no-such-host\.invalid" is not an address/,
    }),
  ])
})

failures(
  "signalbox doesn't listen on the network without required keys, and suggests how to allow it",
  async ({ used }) => {
    const message =
      /--host 0\.0\.0\.0 opens this gateway to the network, but clients need no API key.* signalbox settings update --require-api-key.* --config file.* add --open\.$/m
    await expectFailure({ args: ['--data', used, '--host', '0.0.0.0'], code: 1, message })
    const data = join(await temporaryFolder(), 'data')
    const fresh = signalbox(['--data', data, '--host', '0.0.0.0', '--demo'])
    assert.equal(await fresh.ended, { code: 1, signal: null })
    assert.match(fresh.stderr, message)
    const next = signalbox(['--data', data])
    await next.baseUrl()
    assert.is(findToken(next).length, 53, 'the token has not been shown yet')
    await next.stop()
  },
)

failures('signalbox reports an invalid --config file, and creates no data folder', async () => {
  const folder = await temporaryFolder()
  const config = join(folder, 'signalbox.yaml')
  const data = join(folder, 'data')
  await writeFile(config, 'connections:\n  main:\n    provider: openai\n    apiKey: $' + '{OPENAI_KEY}\n')
  const args = ['--data', data, '--config', config]
  await expectFailure({
    args,
    code: 1,
    message: /signalbox\.yaml: connections\.main\.apiKey needs the environment variable OPENAI_KEY/,
  })
  assert.not.ok(existsSync(data))
  const rejected = signalbox(args, { env: { OPENAI_KEY: 'with blanks in it' } })
  assert.equal(await rejected.ended, { code: 1, signal: null })
  assert.match(
    rejected.stderr,
    /signalbox\.yaml: connections\.main\.apiKey must be the bare key: one line of ASCII characters without whitespace/,
  )
})

failures('if the first start fails on a used port, the next one prints the token', async ({ port }) => {
  const data = join(await temporaryFolder(), 'data')
  await expectFailure({ args: ['--data', data, '--port', String(port)], code: 1, message: /is already in use/ })
  assert.not.ok(existsSync(data))
  const next = signalbox(['--data', data])
  await next.baseUrl()
  assert.is(findToken(next).length, 53)
  await next.stop()
})

failures('signalbox reports an invalid token or secret in the environment', async ({ used }) => {
  const withData = (env: Record<string, string>, message: RegExp) =>
    expectFailure({ args: ['--data', used], env, code: 1, message })
  await Promise.all([
    withData(
      { SIGNALBOX_ADMIN_TOKEN: 'short' },
      /SIGNALBOX_ADMIN_TOKEN is too short \(5 characters\)\. Use at least 32/,
    ),
    withData({ SIGNALBOX_SECRET: 'short' }, /SIGNALBOX_SECRET is too short \(5 characters\)\. Use at least 32/),
    withData({ SIGNALBOX_SECRET: 'another one, long enough to be one' }, /SIGNALBOX_SECRET doesn't match the data in/),
  ])
})

failures("signalbox doesn't start with data that it can't read, and leaves the data unchanged", async ({ used }) => {
  const store = await readFile(join(used, 'store.db'))
  const cut = await dataFolder(used, { 'store.db': store.subarray(0, 3_000) })
  const newer = await dataFolder(used, { store: formerStore(9, new Map(), { schema: 3 }) })
  const foreign = await dataFolder(used, { secret: Buffer.from(`${'A'.repeat(43)}\n`) })
  const file = join(cut, 'store.db')
  const tokenless = await dataFolder(used, { 'admin-token.sha256': Buffer.from('') })
  await Promise.all([
    expectFailure({ args: ['--data', cut], code: 1, message: /cannot be read: .* Restore the folder from a backup/ }),
    expectFailure({
      args: ['--data', cut],
      env: { SIGNALBOX_SECRET: 'any, as long as it is long enough' },
      code: 1,
      message: /cannot be read: .* from a backup/,
    }),
    expectFailure({ args: ['--data', newer], code: 1, message: /written by a newer Signalbox/ }),
    expectFailure({ args: ['--data', foreign], code: 1, message: /is not the one that belongs to the store/ }),
    expectFailure({
      args: ['--data', file],
      code: 1,
      message: /cannot be written: \S+store\.db is a file\. Use a folder/,
    }),
    expectFailure({ args: ['--data', join(file, 'x')], code: 1, message: /: part of \S+x is a file\. Use a folder/ }),
    expectFailure({
      args: ['--data', tokenless],
      code: 1,
      message: /hash of the admin token in .* is damaged.*--new-token/,
    }),
  ])
  assert.ok((await readFile(join(cut, 'store.db'))).equals(store.subarray(0, 3_000)))
  assert.ok((await readFile(join(foreign, 'store.db'))).equals(store))
})

failures('signalbox asks for the missing SIGNALBOX_SECRET of its data instead of creating a new secret', async () => {
  const data = await temporaryFolder()
  const sealed = signalbox(['--data', data], { env: { SIGNALBOX_SECRET: 'a secret that is long enough for this' } })
  await sealed.baseUrl()
  await sealed.stop()
  await expectFailure({
    args: ['--data', data],
    code: 1,
    message: /Set SIGNALBOX_SECRET to the secret it was encrypted with, or restore/,
  })
  assert.not.ok((await readdir(data)).includes('secret'), 'no new secret is created')
})

/** Copies a data folder from a previous run and replaces some of its files. */
async function dataFolder(used: string, files: Record<string, Buffer>): Promise<string> {
  const folder = join(await temporaryFolder(), 'data')
  await mkdir(folder)
  for (const name of ['store', 'store.db', 'secret', 'admin-token.sha256'])
    await copyFile(join(used, name), join(folder, name))
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes)
  return folder
}
