import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { temporaryFolder } from '../storage/support/folder.ts'
import { assert, suite } from '../support/suite.ts'
import { startUpstream } from './upstream.ts'
import { startWorker } from './worker.ts'

const SECRET = 'secret-of-the-proxy-of-forty-characters-'
const ENROLLMENT_TOKEN = 'enrollment-token-with-forty-characters-1'
const HELLO = /"Hel"[\s\S]*"lo"[\s\S]*data: \[DONE\]/

/** A request from the gateway, as an attacker who recorded it would replay it. */
type Sent = [url: string, init: RequestInit]

/** A cloud proxy in workerd, on a store that survives it, and a gateway in this process that syncs to it. */
interface World {
  home: Gateway
  key: string
  keyId: string
  url: string
  sent: Sent[]
  /** Restarts workerd with the same data and address. */
  restart(): Promise<void>
  models(): Promise<number>
  chat(model: string): Promise<{ status: number; text: string }>
  close(): Promise<void>
}

async function openWorld(options: object): Promise<World> {
  const upstream = await startUpstream()
  const folder = await temporaryFolder()
  const start = (port = 0) =>
    startWorker('worker-cloud', {
      bindings: { SECRET, ENROLLMENT_TOKEN },
      durableObjectsPersist: folder.path,
      kvPersist: folder.path,
      port,
      ...options,
    })
  let worker = await start()
  const { url } = worker
  const sent: Sent[] = []
  const home = createGateway({
    storage: memoryStorage(),
    logger: false,
    async fetch(input: Request | URL | string, init?: RequestInit) {
      const request = new Request(input, init)
      const { method } = request
      const headers = Object.fromEntries(request.headers)
      const body = await request.clone().text()
      sent.push([request.url, { method, headers, ...(body !== '' && { body }) }])
      return fetch(request)
    },
  })
  const provider = { prefix: 'up', baseUrl: upstream.url, enabledModels: ['m'] }
  await home.api.connections.put({ id: 'up', provider: 'openai-compatible-up', apiKey: 'sk-test', ...provider })
  const { key, id } = await home.api.keys.create({ name: 'app' })
  await home.api.settings.update({ cloudUrl: url })

  const authorization = `Bearer ${key}`
  return {
    home,
    key,
    keyId: id,
    url,
    sent,
    async restart() {
      await worker.stop()
      worker = await start(Number(new URL(url).port))
    },
    models: async () => (await fetch(`${url}/v1/models`, { headers: { authorization } })).status,
    async chat(model) {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
      })
      return { status: response.status, text: await response.text() }
    },
    async close() {
      await home.close({ graceMs: 0 })
      await worker.stop()
      upstream.close()
      await folder.remove()
    },
  }
}

const isSigned = ([, { headers }]: Sent) => headers !== undefined && 'x-signalbox-cloud-signature' in headers
const isOpening = ([url, { method }]: Sent) => method === 'POST' && url.endsWith('/cloud/1/sessions')

/** Replays the signed and session-opening requests, and expects all of them to be rejected. */
async function assertReplaysRejected(sent: Sent[]): Promise<void> {
  const opening = sent.filter((item) => isSigned(item) || isOpening(item))
  assert.ok(opening.length > 3)
  for (const [url, init] of opening) {
    const response = await fetch(url, init)
    const { code } = await response.json()
    assert.equal([response.status, code], [401, 'SESSION_INVALID'], `${init.method} ${url}`)
  }
}

const stores = {
  'a Durable Object': { durableObjects: { STORE: { className: 'SignalboxStore', useSQLite: true } } },
  'Workers KV': { kvNamespaces: ['KV'] },
}

for (const [store, options] of Object.entries(stores)) {
  const test = suite<{ world: World }>(`a cloud proxy in workerd with ${store}`)

  test.before(async (context) => {
    context.world = await openWorld(options)
  })
  test.after(({ world }) => world?.close())

  test('a cloud proxy can be enabled, streams a response, and serves no management paths', async ({ world }) => {
    const { home, chat, url } = world
    assert.is(
      await home.api.cloud.enable({ enrollmentToken: 'a-wrong-credential-of-forty-characters--' }).catch(getCode),
      'CLOUD_FAILED',
    )
    assert.equal(await home.api.cloud.enable({ enrollmentToken: ENROLLMENT_TOKEN }), {
      success: true,
      verified: true,
      conflicts: [],
    })
    const { status, text } = await chat('up/m')
    assert.is(status, 200, text)
    assert.match(text, HELLO)
    for (const path of ['/api/keys', '/api/sync/cloud', '/']) {
      const { status } = await fetch(url + path, { headers: { authorization: `Bearer ${world.key}` } })
      assert.is(status, path === '/' ? 200 : 404)
    }
  })

  test("a cloud proxy replicates the gateway's records, and rejects keys that are paused there", async ({ world }) => {
    const { home, keyId, chat, models } = world
    await home.api.combos.create({ name: 'fast', models: ['up/m'] })
    await home.api.cloud.sync()
    assert.match((await chat('fast')).text, HELLO)
    await home.api.keys.update(keyId, { isActive: false })
    await home.api.cloud.sync()
    assert.is(await models(), 403)
    await home.api.keys.update(keyId, { isActive: true })
    await home.api.cloud.sync()
    assert.is(await models(), 200)
  })

  test('a cloud proxy rejects replayed requests, and continues its session after a restart', async ({ world }) => {
    const { home, sent, restart, models } = world
    await assertReplaysRejected(sent)
    await restart()
    await assertReplaysRejected(sent)
    const before = sent.length
    assert.equal(await home.api.cloud.sync(), { success: true, conflicts: [] })
    assert.is(sent.slice(before).filter(isOpening).length, 0)
    assert.is(await models(), 200)
  })

  test('a cloud proxy deletes its replica, sessions, and keys when disabled, and can recreate them', async ({
    world,
  }) => {
    const { home, sent, models } = world
    assert.equal(await home.api.cloud.disable(), { success: true, conflicts: [] })
    assert.is(await models(), 401)
    await assertReplaysRejected(sent)
    assert.is((await home.api.cloud.enable()).verified, true, 'it was enrolled again')
    assert.is(await models(), 200)
  })
}

const getCode = (error: { code?: string }) => error.code
