import { assert, suite } from '../support/suite.ts'
import { runScript, sharedBy, startChild } from './child.ts'
import { addClientDisconnectTests } from './client-disconnects.ts'
import { addFakeTimerTests } from './fake-timers.ts'
import { addGuardTests } from './guarded.ts'
import { addHostileRequestTests } from './hostile-requests.ts'
import { addAsyncContextTests } from './in-context.ts'
import { addServerTests } from './mount-closes.ts'
import { addPathTests } from './paths.ts'
import { runsIn } from './scenario.ts'

const deno = new URL('node_modules/.bin/deno', import.meta.url).pathname
const start = (app: string) => startChild(deno, ['run', '--allow-net', '--no-prompt', `apps/${app}.mjs`])
const fetches = sharedBy(3, () => start('deno-fetch'))
const mount = sharedBy(4, () => start('deno-mount'))

runsIn('Deno.serve(gateway.fetch)', fetches)
addPathTests('Deno.serve(gateway.fetch)', fetches)
runsIn('serveDeno(gateway)', mount)
addClientDisconnectTests('serveDeno', mount)
addHostileRequestTests('serveDeno', mount)
addHostileRequestTests('Deno.serve(gateway.fetch)', fetches)
addServerTests('serveDeno', mount)
addAsyncContextTests('Deno', deno, 'run', '--allow-net', '--no-prompt')
addFakeTimerTests('Deno', ['byHand'], deno, 'run', '--allow-net', '--no-prompt')
addServeDenoTests()
addGuardTests('Deno', async () =>
  JSON.parse(await runScript(deno, ['run', '--allow-net', '--no-prompt', 'apps/guards.mjs'])),
)

/** Node's own server only starts listening one turn of the event loop later. */
function addServeDenoTests() {
  const test = suite('serveDeno and its address')
  test('serveDeno listens before it returns, throws if the port is taken, and releases it on close', async () => {
    const output = JSON.parse(await runScript(deno, ['run', '--allow-net', '--no-prompt', 'apps/deno-ports.mjs']))
    const each = [200, true, 'AddrInUse', 'closed']
    assert.equal(output, { '127.0.0.1': each, localhost: each, '::1': each })
  })
}
