import { assert, suite } from '../support/suite.ts'
import { runScript, sharedBy, startChild } from './child.ts'
import { clientsLeave } from './client-disconnects.ts'
import { keepsToFakeTimers } from './fake-timers.ts'
import { guardsContent } from './guarded.ts'
import { refusesHostileRequests } from './hostile-requests.ts'
import { tellsInContext } from './in-context.ts'
import { mountGuardsAndCloses } from './mount-closes.ts'
import { readsPaths } from './paths.ts'
import { runsIn } from './scenario.ts'

const deno = new URL('node_modules/.bin/deno', import.meta.url).pathname
const start = (app: string) => startChild(deno, ['run', '--allow-net', '--no-prompt', `apps/${app}.mjs`])
const fetches = sharedBy(3, () => start('deno-fetch'))
const mount = sharedBy(4, () => start('deno-mount'))

runsIn('Deno.serve(gateway.fetch)', fetches)
readsPaths('Deno.serve(gateway.fetch)', fetches)
runsIn('serveDeno(gateway)', mount)
clientsLeave('serveDeno', mount)
refusesHostileRequests('serveDeno', mount)
refusesHostileRequests('Deno.serve(gateway.fetch)', fetches)
mountGuardsAndCloses('serveDeno', mount)
tellsInContext('Deno', deno, 'run', '--allow-net', '--no-prompt')
keepsToFakeTimers('Deno', ['byHand'], deno, 'run', '--allow-net', '--no-prompt')
opensAtOnce()
guardsContent('Deno', async () =>
  JSON.parse(await runScript(deno, ['run', '--allow-net', '--no-prompt', 'apps/guards.mjs'])),
)

/** Node's own server only starts listening one turn of the event loop later. */
function opensAtOnce() {
  const test = suite('serveDeno and its address')
  test('serveDeno listens before it returns, throws if the port is taken, and releases it on close', async () => {
    const output = JSON.parse(await runScript(deno, ['run', '--allow-net', '--no-prompt', 'apps/deno-ports.mjs']))
    const each = [200, true, 'AddrInUse', 'closed']
    assert.equal(output, { '127.0.0.1': each, localhost: each, '::1': each })
  })
}
