import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { paths } from '../../src/features/cloud-sync/protocol.ts'
import { portableBoom } from '../../tsup.config.ts'
import { createClient } from '../cloud/support/client.ts'
import { createHome } from '../cloud/support/gateway.ts'
import { ENROLLMENT_TOKEN, SECRET } from '../cloud/support/proxy.ts'
import { connectionState, keyState, settingsState } from '../cloud/support/states.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('workerd: a cloud proxy', { worker: undefined as Miniflare | undefined })

test.before(async (context) => {
  const { outputFiles } = await build({
    entryPoints: [new URL('apps/cloud-worker.ts', import.meta.url).pathname],
    bundle: true,
    write: false,
    logLevel: 'error',
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    plugins: [portableBoom],
  })
  context.worker = new Miniflare({
    modules: [{ type: 'ESModule', path: 'cloud-worker.mjs', contents: outputFiles[0]?.text ?? '' }],
    compatibilityDate: '2026-07-01',
    compatibilityFlags: ['enable_request_signal'],
    bindings: { SECRET, ENROLLMENT_TOKEN },
    kvNamespaces: ['KV'],
    durableObjects: { STORE: { className: 'SignalboxStore', useSQLite: true } },
    host: '127.0.0.1',
    port: 0,
  })
  await context.worker.ready
})

test.after(({ worker }) => worker?.dispose())

for (const [store, name] of [
  ['a strongly consistent Durable Object', 'object'],
  ['KV', 'kv'],
] as const)
  test(`a cloud proxy in workerd stores a replica, accepts its keys, and deletes both (${store})`, async ({
    worker,
  }) => {
    let host = `same.${name}`
    const { origin } = (await worker?.ready) ?? {}
    const gateway = {
      async fetch(request: Request): Promise<Response> {
        const { pathname } = new URL(request.url)
        const { method, headers } = request
        const body = method === 'GET' ? undefined : await request.text()
        headers.set('mf-original-url', `http://${host}.test${pathname}`)
        return fetch(`${origin}${pathname}`, { method, headers, ...(body && { body }) })
      },
    }
    const home = createHome(await createClient(gateway))
    const { value, state } = await keyState('one')
    const models = async () => {
      const headers = { authorization: `Bearer ${value}` }
      const { status } = await gateway.fetch(new Request('http://proxy.test/v1/models', { headers }))
      return status
    }
    assert.is(await models(), 401)
    await home.open()
    const { verdicts } = await home.enable([
      settingsState(true),
      state,
      connectionState('c', 'sk-provider-key-of-the-connection'),
    ])
    assert.equal(verdicts, ['taken', 'taken', 'taken'])
    assert.is(await models(), 200)

    const message = await home.client.signed('GET', paths.sessions)
    assert.is((await home.client.send(message)).status, 200)
    host = `new.${name}` // each request goes to a proxy that has just started
    assert.is((await home.client.send(message)).status, 401)
    assert.is(await models(), 200)
    const { state: paused } = await keyState('one', { value, edits: 2, isActive: false })
    await home.sync([paused])
    assert.is(await models(), 403)
    await home.disable()
    assert.is(await models(), 401)
    assert.is((await home.client.open()).status, 200)
  })
