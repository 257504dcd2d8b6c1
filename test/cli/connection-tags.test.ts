import { serveNode } from '../../adapters/mount/node.ts'
import { runCommand } from '../../src/cli/commands/run-command.ts'
import { isProblem } from '../../src/cli/problem.ts'
import { openManagement, TOKEN } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('tags in the CLI')

test('the options --tag and --require set tags, which default to true', async () => {
  const management = openManagement()
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
  const { api } = management.gateway
  await run('connections', 'create', 'openai', '--tag', 'zdr', '--tag', 'training=false', '--tag', 'region=eu')
  assert.equal((await api.connections.list()).connections[0]?.tags, { zdr: true, training: false, region: 'eu' })
  await run('keys', 'create', 'app', '--require', 'zdr=true', '--require', 'region=eu')
  const [key] = (await api.keys.list()).keys
  assert.equal(key?.require, { zdr: true, region: 'eu' })
  await run('groups', 'create', 'team', '--require', 'zdr')
  assert.equal((await api.groups.list()).groups[0]?.require, { zdr: true })
  assert.match(await run('keys', 'update', 'app', '--require', '=eu'), /--require/)
  await serving.close()
})
