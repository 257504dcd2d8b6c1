import { serveNode } from '../../adapters/mount/node.ts'
import { runCommand } from '../../src/cli/commands/run-command.ts'
import { applyConfig, readConfigFile } from '../../src/cli/config-file.ts'
import { withManagement } from '../../src/cli/data-folder.ts'
import { isProblem } from '../../src/cli/problem.ts'
import { openManagement, TOKEN } from '../management/open-management.ts'
import { assert } from '../support/suite.ts'
import { configSuite, findProblem, openData, write } from './config-files.ts'

const test = configSuite('guard headers in the CLI')

const SECRET = 'Bearer token-of-the-service-0123456789'

test('CLI options set guard headers, with values from stdin or the environment', async () => {
  const { gateway } = openManagement()
  const serving = await serveNode(gateway, { port: 0 })
  let out = ''
  const run = async (...args: string[]) => {
    const variables = { SIGNALBOX_URL: serving.url, SIGNALBOX_ADMIN_TOKEN: TOKEN, GUARD: SECRET, EMPTY: '' }
    const print = (text: string) => {
      out += text
    }
    const terminal = { out: print, err: print }
    await runCommand(['guards', ...args], { variables, stdin: async () => SECRET, terminal }).catch((error: unknown) =>
      print(isProblem(error) ? error.message : String(error)),
    )
  }
  const read = async () => (await gateway.api.guards.get('service')).headers
  await run(
    'create',
    '--name',
    'service',
    '--kind',
    'http',
    '--service-url',
    'https://guard.test',
    '--header-env',
    'authorization=GUARD',
  )
  assert.equal(await read(), { authorization: '…6789' })
  await run('update', 'service', '--header', 'x-key=-', '--header', 'x-team=machine-learning')
  assert.equal(await read(), { 'x-key': '…6789', 'x-team': '…ning' })
  await run('update', 'service', '--mode', 'watch')
  assert.equal(await read(), { 'x-key': '…6789', 'x-team': '…ning' })
  await run('get', 'service')
  await run('list')
  assert.not.match(out, 'token-of-the-service')
  for (const [option, problem] of [
    ['authorization', /^--header "authorization" is not in the form name=value/],
    ['host=a', /^--header host is already set; omit it/],
    ['x-a=', /^--header x-a must be the complete value: one line of ASCII characters, not blank/],
  ] as const) {
    out = ''
    await run('update', 'service', '--header', option)
    assert.match(out, problem)
  }
  out = ''
  await run('update', 'service', '--header-env', 'authorization=EMPTY')
  assert.match(out, /^The environment variable EMPTY is empty/)
  await run('update', 'service', '--data', '{"headers":null}')
  assert.is(await read(), undefined)
  await serving.close()
})

test('the config file sets guard headers, and writes nothing if they are unchanged', async ({ folder }) => {
  const { data, written } = openData()
  const text = (value: string) =>
    `guards:\n  service:\n    kind: http\n    url: https://guard.test\n    headers:\n      authorization: ${value}\n`
  const apply = async (value: string) =>
    applyConfig(await readConfigFile(await write(folder, 'guards.yaml', text(value)), { GUARD: SECRET }), data)
  await apply('$' + '{GUARD}')
  assert.ok(written().includes('guards/service'))
  await apply('$' + '{GUARD}')
  assert.equal(written(), [])
  await withManagement(data, async (api) =>
    assert.equal((await api.guards.get('service')).headers, { authorization: '…6789' }),
  )
  for (const { value } of await data.storage.list('')) assert.not.match(value, 'token-of-the-service')
  assert.match(
    await findProblem(apply('"\\u00e9"')),
    /guards\.yaml: guards\.service\.headers\.authorization must be the complete value: one line of ASCII characters, not blank\.$/,
  )
})
