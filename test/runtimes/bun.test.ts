import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { assert, suite } from '../support/suite.ts'
import { sharedBy, startChild } from './child.ts'
import { clientsLeave } from './clients-leave.ts'
import { mountGuardsAndCloses } from './mount-closes.ts'
import { linkPackage } from './package-link.ts'
import { readsPaths } from './paths.ts'
import { runsIn } from './scenario.ts'

const bun = new URL('node_modules/.bin/bun', import.meta.url).pathname
const start = (app: string, ...args: string[]) => startChild(bun, [`apps/${app}.mjs`, ...args])
const fetches = sharedBy(3, () => start('bun-fetch'))
const mount = sharedBy(4, () => start('bun-mount'))

runsIn('Bun.serve({ fetch: gateway.fetch })', fetches)
readsPaths('Bun.serve({ fetch: gateway.fetch })', fetches)
runsIn('Bun.serve(gateway)', () => start('bun-object'))
runsIn('serveBun(gateway)', mount)
clientsLeave('serveBun', mount)
clientsLeave('Bun.serve({ fetch: gateway.fetch })', fetches)
portsAreNotShared()
callsInProcessEndAtOnce()
mountGuardsAndCloses('serveBun', mount)

/** Only what `Bun.serve` passes may be listened to later. */
function callsInProcessEndAtOnce() {
  const test = suite('a client in the same Bun that has left')
  test('is noticed in whatever way it calls, also by a fetch in place of Bun\u2019s that never ends', async () => {
    await linkPackage()
    const cwd = new URL('.', import.meta.url).pathname
    const { stdout } = await promisify(execFile)(bun, ['apps/bun-in-process.mjs'], { cwd, timeout: 20_000 })
    assert.equal(JSON.parse(stdout), { statuses: [200, 499, 499, 499, 499], calls: 1 })
  })
}

function portsAreNotShared() {
  const test = suite('serveBun on a port that is taken')
  test('throws, so that no two servers answer by turns', async () => {
    const served = await mount()
    try {
      const second = start('bun-mount', new URL(served.url).port)
      await second.then(
        async (one) => {
          await one.stop()
          assert.unreachable('two servers listen on one port')
        },
        (error: unknown) => assert.match(String(error), /EADDRINUSE/),
      )
    } finally {
      await served.stop()
    }
  })
}
