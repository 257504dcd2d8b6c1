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

const bun = new URL('node_modules/.bin/bun', import.meta.url).pathname
const start = (app: string, ...args: string[]) => startChild(bun, [`apps/${app}.mjs`, ...args])
const fetches = sharedBy(4, () => start('bun-fetch'))
const mount = sharedBy(5, () => start('bun-mount'))

runsIn('Bun.serve({ fetch: gateway.fetch })', fetches)
addPathTests('Bun.serve({ fetch: gateway.fetch })', fetches)
runsIn('Bun.serve(gateway)', () => start('bun-object'))
runsIn('serveBun(gateway)', mount)
addClientDisconnectTests('serveBun', mount)
addClientDisconnectTests('Bun.serve({ fetch: gateway.fetch })', fetches)
addHostileRequestTests('serveBun', mount)
addHostileRequestTests('Bun.serve({ fetch: gateway.fetch })', fetches)
addTakenPortTests()
addInProcessClientTests()
addReplacedFetchTests()
addQueuedStreamTests()
addAsyncContextTests('Bun', bun)
addFakeTimerTests('Bun', ['byHand', 'jest'], bun)
addServerTests('serveBun', mount)
addGuardTests('Bun', async () => JSON.parse(await runScript(bun, ['apps/guards.mjs'])))

/** Requests from the same process need their abort listeners immediately. Only those from `Bun.serve` can get them later. */
function addInProcessClientTests() {
  const test = suite('a client that disconnects in the same Bun process')
  test('the gateway notices that a client in the same Bun process has disconnected', async () => {
    const output = await runScript(bun, ['apps/bun-in-process.mjs'])
    assert.equal(JSON.parse(output), { ends: [200, 'AbortError', 499, 499, 'AbortError'], calls: 1 })
  })
}

/** Only Bun's own `fetch` can be relied on to settle when it is aborted. */
function addReplacedFetchTests() {
  const test = suite("a replacement for Bun's fetch, installed before the package is loaded")
  for (const way of ['plain', 'bound', 'disguised', 'proxy', 'spy'])
    test(`a replacement fetch that never settles doesn't keep a disconnected client's request open (${way})`, async () => {
      const output = await runScript(bun, ['apps/bun-wrapped-fetch.mjs', way])
      assert.equal(JSON.parse(output), { status: 499 })
    })
}

/** Bun reads the maximum number of concurrent calls when it starts. */
function addQueuedStreamTests() {
  const test = suite('300 concurrent streams under serveBun')
  const run = async (command: string, ...args: string[]) =>
    JSON.parse(await runScript(command, [...args, 'apps/bun-many.mjs']))

  test('serveBun starts as many streams as Bun allows, and logs once that others are queued', async () => {
    const { begun, calls, warnings } = await run(bun)
    assert.equal([begun, calls], [256, 256])
    assert.is(warnings.length, 1)
    assert.match(warnings[0], /at most 256 concurrent calls.*BUN_CONFIG_MAX_HTTP_REQUESTS/)
  })

  test('serveBun starts all 300 concurrent streams, without logging anything, if Bun allows enough calls', async () => {
    const output = await run('env', 'BUN_CONFIG_MAX_HTTP_REQUESTS=1000', bun)
    assert.equal(output, { begun: 300, calls: 300, warnings: [] })
  })
}

function addTakenPortTests() {
  const test = suite('serveBun on a port that is taken')
  test('serveBun throws if the port is taken, so two servers never share a port', async () => {
    const server = await mount()
    try {
      const second = start('bun-mount', new URL(server.url).port)
      await second.then(
        async (item) => {
          await item.stop()
          assert.unreachable('two servers are listening on one port')
        },
        (error: unknown) => assert.match(String(error), /EADDRINUSE/),
      )
    } finally {
      await server.stop()
    }
  })
}
