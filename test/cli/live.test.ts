import { serveNode } from '../../adapters/mount/node.ts'
import { platformClock } from '../../src/platform.ts'
import { openManagement } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'
import { runHere } from './run-here.ts'

const test = suite('signalbox live')

test('signalbox live prints events as text or JSON Lines, up to the limit', async () => {
  const { gateway } = openManagement({ clock: platformClock })
  const serving = await serveNode(gateway, { port: 0 })
  const running = await runHere(serving.url, 'live --limit 1')
  assert.equal([running.code, running.out, running.err], [0, 'running 0 requests in flight\n', ''])
  let isOver = false
  const following = runHere(serving.url, 'live --json --limit 2').finally(() => {
    isOver = true
  })
  for (let index = 0; !isOver; index++) {
    await gateway.api.aliases.set({ alias: 'a', model: `b${index}` }) // the first changes may happen before the command is listening
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { out } = await following
  const events = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(
    events.map(({ type, data }) => [type, data]),
    [
      ['running', { requests: [] }],
      ['changed', { collection: 'aliases' }],
    ],
  )
  const bad = await runHere(serving.url, 'live --types nothing')
  assert.is(bad.code, 1)
  assert.match(bad.err, /--types|types/)
  await serving.close()
  const away = await runHere(serving.url, 'live')
  assert.is(away.code, 1)
  assert.match(away.err, /is unreachable/)
})
