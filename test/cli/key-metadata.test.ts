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

const test = suite('key metadata in the CLI')

test('each --metadata option sets one string', async () => {
  const management = openManagement()
  const serving = await serveNode(management.gateway, { port: 0 })
  const run = async (...args: string[]) => {
    let printed = ''
    const out = (text: string) => {
      printed += text
    }
    const variables = { SIGNALBOX_URL: serving.url, SIGNALBOX_ADMIN_TOKEN: TOKEN }
    await runCommand(['keys', ...args], { variables, stdin: async () => '', terminal: { out, err: out } }).catch(
      (error: unknown) => out(isProblem(error) ? error.message : String(error)),
    )
    return printed
  }
  const listMetadata = async () =>
    (await management.gateway.api.keys.list()).keys.map(({ name, metadata }) => [name, metadata])
  assert.match(await run('create', 'app', '--metadata', 'team=ml', '--metadata', 'query=a=b'), /^metadata\.team +ml$/m)
  assert.equal(await listMetadata(), [['app', { team: 'ml', query: 'a=b' }]])
  assert.match(await run('get', 'app'), /^metadata\.query +a=b$/m)
  await run('update', 'app', '--metadata', 'team=web')
  assert.equal(await listMetadata(), [['app', { team: 'web' }]])
  assert.match(
    await run('update', 'app', '--metadata', 'team'),
    /^--metadata "team" is not in the form name=value, for example: --metadata team=ml$/,
  )
  await run('update', 'app', '--data', '{"metadata":null}')
  assert.equal(await listMetadata(), [['app', undefined]])
  assert.match(await run('create', '--help'), /^Options:\n(?: .*\n)* {2}--metadata team=ml/m)
  await serving.close()
})

test('the config file sets key metadata', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-metadata-'))
  const data = { storage: memoryStorage(), catalog: defaultCatalog, secret: 'a secret of at least 32 characters' }
  const apply = async (content: string) => {
    await writeFile(join(folder, 'a.yaml'), content)
    await applyConfig(await readConfigFile(join(folder, 'a.yaml'), { TEAM: 'ml' }), data)
    return withManagement(data, async (api) => (await api.keys.list()).keys.map(({ metadata }) => metadata))
  }
  assert.equal(await apply('keys:\n  app: { metadata: { team: "$' + '{TEAM}" } }\n'), [{ team: 'ml' }])
  assert.equal(await apply('keys:\n  app:\n'), [{ team: 'ml' }])
  assert.equal(await apply('keys:\n  app: { metadata: null }\n'), [undefined])
  const refusal = await apply('keys:\n  app: { metadata: { team: 5 } }\n').catch((error: Error) => error.message)
  assert.match(String(refusal), /a\.yaml: keys\.app\.metadata\.team must be a string\.$/)
  await rm(folder, { recursive: true, force: true })
})
