import { assert, suite } from '../support/suite.ts'
import { sharedBy, startChild } from './child.ts'
import { clientsLeave } from './clients-leave.ts'
import { mountGuardsAndCloses } from './mount-closes.ts'
import { readsPaths } from './paths.ts'
import { runsIn } from './scenario.ts'

const bun = new URL('node_modules/.bin/bun', import.meta.url).pathname
const start = (app: string, ...args: string[]) => startChild(bun, [`apps/${app}.mjs`, ...args])
const fetches = sharedBy(2, () => start('bun-fetch'))
const mount = sharedBy(4, () => start('bun-mount'))

runsIn('Bun.serve({ fetch: gateway.fetch })', fetches)
readsPaths('Bun.serve({ fetch: gateway.fetch })', fetches)
runsIn('Bun.serve(gateway)', () => start('bun-object'))
runsIn('serveBun(gateway)', mount)
clientsLeave('serveBun', mount)
portsAreNotShared()
mountGuardsAndCloses('serveBun', mount)

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
