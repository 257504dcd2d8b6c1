import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveNode } from '../../adapters/mount/node.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { runCommand } from '../../src/cli/commands/run-command.ts'
import { applyConfig, readConfigFile } from '../../src/cli/config-file.ts'
import { withManagement } from '../../src/cli/data-folder.ts'
import { isProblem } from '../../src/cli/problem.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { openManagement, TOKEN } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('groups and limits in the CLI')

test('CLI options set groups and limits', async () => {
  const management = openManagement()
  const { api } = management.gateway
  const serving = await serveNode(management.gateway, { port: 0 })
  const run = async (...args: string[]) => {
    let printed = ''
    const out = (text: string) => {
      printed += text
    }
    const variables = { SIGNALBOX_URL: serving.url, SIGNALBOX_ADMIN_TOKEN: TOKEN }
    await runCommand(args, { variables, stdin: async () => '', terminal: { out, err: out } }).catch((error: unknown) =>
      out(isProblem(error) ? error.message : String(error)),
    )
    return printed
  }
  const limit = ['--limit', 'usd.day=0.5', '--limit', 'usd.month=5', '--limit', 'parallel=2']
  await run('groups', 'create', 'Team', ...limit, '--model', 'one/*', '--model', 'fast', '--kind', 'llm')
  const [group] = (await api.groups.list()).groups
  assert.equal(
    [group?.limits, group?.models, group?.kinds],
    [{ usd: { day: 0.5, month: 5 }, parallel: 2 }, ['one/*', 'fast'], ['llm']],
  )
  const id = group?.id ?? ''
  await run(
    'keys',
    'create',
    'app',
    '--group',
    id,
    '--limit',
    'requests.minute=60',
    '--expires-at',
    '2030-01-01T00:00:00Z',
  )
  const key = async () => (await api.keys.list()).keys[0]
  assert.equal([(await key())?.group, (await key())?.limits], [id, { requests: { minute: 60 } }])
  assert.match(await run('keys'), new RegExp(`^ID .* GROUP\n.*${id}$`, 'm'))
  assert.match(await run('groups'), /^ID .*STATE.*\n.*Team +active/m)
  await run('keys', 'update', 'app', '--data', '{"limits":null}')
  assert.is((await key())?.limits, undefined)
  assert.match(await run('groups', 'update', 'Team', '--limit', 'usd.day'), /^--limit "usd\.day" needs a number/)
  assert.match(
    await run('groups', 'update', 'Team', '--limit', 'usd.day=0'),
    /^--limit usd\.day must be a number above 0/,
  )
  assert.match(
    await run('groups', 'delete', 'Team'),
    /still has 1 key\. First delete it, .*"signalbox keys update" with --group/,
  )
  await run('groups', 'update', 'Team', '--paused')
  assert.is((await api.groups.get(id)).isActive, false)
  await run('settings', 'update', '--limit', 'tokens.day=1000')
  assert.equal((await api.settings.get()).limits, { tokens: { day: 1_000 } })
  await serving.close()
})

test('the config file sets groups and limits', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-groups-'))
  const data = { storage: memoryStorage(), catalog: defaultCatalog, secret: 'a secret of at least 32 characters' }
  const apply = async (content: string) => {
    await writeFile(join(folder, 'a.yaml'), content)
    await applyConfig(await readConfigFile(join(folder, 'a.yaml'), {}), data)
    return withManagement(data, async (api) => ({
      ...(await api.groups.list()),
      keys: (await api.keys.list()).keys.map(({ name, group, limits }) => ({ name, group, limits })),
    }))
  }
  const text = `
keys:
  app: { group: pro, limits: { requests: { minute: 5 } } }
groups:
  pro: { limits: { usd: { month: 20 } } }
`
  for (let times = 0; times < 2; times++) {
    const { groups, keys } = await apply(text)
    assert.equal(
      groups.map(({ id, name, limits }) => ({ id, name, limits })),
      [{ id: 'pro', name: 'pro', limits: { usd: { month: 20 } } }],
    )
    assert.equal(keys, [{ name: 'app', group: 'pro', limits: { requests: { minute: 5 } } }])
  }
  const refusal = await apply('groups:\n  pro: { limits: { usd: { month: 0 } } }\n').catch(
    (error: Error) => error.message,
  )
  assert.match(
    String(refusal),
    /a\.yaml: groups\.pro\.limits\.usd\.month must be a number above 0 and up to 9007199\.$/,
  )
  await rm(folder, { recursive: true, force: true })
})
