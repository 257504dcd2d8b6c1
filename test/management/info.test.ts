import { memoryStorage } from '../../adapters/storage/memory.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement, TOKEN } from './open-management.ts'

const test = suite('gateway information')

test('gateway info contains the version, storage, features, and record counts, but no secrets', async () => {
  const { expect, gateway, clock } = openManagement({ basePath: '/ai', observe: [prometheus()] })
  const { key } = await gateway.api.keys.create({ name: 'secret name' })
  await gateway.api.connections.put({ id: 'c', provider: 'openai', apiKey: 'sk-secret-of-the-connection' })
  const startedAt = new Date(clock.now()).toISOString()
  await clock.advance(5_000)
  const body = await expect(200, 'GET', '/ai/api/info')
  assert.equal(body as unknown, {
    version: '0.1.0',
    runtime: `Node.js ${process.versions.node}`,
    basePath: '/ai',
    now: new Date(clock.now()).toISOString(),
    startedAt,
    storage: { atomic: true, watches: true },
    features: { usage: true, cloud: false, dashboard: false, observers: 1, pages: ['/metrics'] },
    canWrite: true,
    requireApiKey: false,
    counts: { keys: 1, connections: 1, combos: 0 },
    definedInCode: { settings: [], aliases: [] },
    inFlight: 0,
  })
  for (const secret of [key, TOKEN, 'sk-secret', 'secret name']) assert.not.ok(JSON.stringify(body).includes(secret))
})

test("gateway info shows which features the storage doesn't support", async () => {
  const { watch: _, ...storage } = memoryStorage()
  const { gateway } = openManagement({ storage: { ...storage, atomic: false }, usage: false })
  const { storage: can, features } = await gateway.api.info()
  assert.equal([can, features.usage], [{ atomic: false, watches: false }, false])
})

test('gateway info counts the in-flight model requests', async () => {
  let respond = () => {}
  const requested = Promise.withResolvers<void>()
  const waiting = new Promise<void>((resolve) => {
    respond = resolve
  })
  const { chat, api } = await openWorld({
    fetch: fakeUpstream(async () => {
      requested.resolve()
      await waiting
      return json(chatResponse())
    }),
  })
  const pending = chat({})
  await requested.promise
  assert.is((await api.info()).inFlight, 1)
  respond()
  await pending
  assert.is((await api.info()).inFlight, 0)
})
