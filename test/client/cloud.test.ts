import { ClientError, createClient } from '../../src/client/client.ts'
import { CLOUD, ENROLLMENT_TOKEN, fakeProxy } from '../management/cloud/fake-proxy.ts'
import { openManagement, TOKEN } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'

/** Opens a client for a server that returns a response from a table, by action. Each request is recorded as `METHOD /path body`. */
function open(responses: Record<string, object> = {}) {
  const sent: string[] = []
  const client = createClient({
    baseUrl: 'http://gateway.test',
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const text = await request.text()
      sent.push(`${request.method} ${new URL(request.url).pathname}${text && ` ${text}`}`)
      const { action = '' }: { action?: string } = text === '' ? {} : JSON.parse(text)
      const body = responses[action] ?? {}
      return Response.json(body, { status: 'error' in body ? 502 : 200 })
    },
  })
  return { client, sent }
}

const conflict = (id: string) => ({ collection: 'keys', id, kept: 'gateway' })
const done = (...ids: string[]) => ({ success: true, conflicts: ids.map(conflict) })

const actions = suite('cloud sync in the management client')

actions('each cloud sync operation sends the right method, path, and body', async () => {
  const { client, sent } = open({ disable: done(), sync: done(), enable: { ...done(), verified: true } })
  const { cloud } = client
  await cloud.get()
  assert.is((await cloud.enable()).verified, true)
  await cloud.enable({ enrollmentToken: 'an enrollment token' })
  await cloud.sync()
  await cloud.check()
  await cloud.sessions.list()
  await cloud.sessions.revoke('a/b')
  assert.equal(sent, [
    'GET /api/sync/cloud',
    'POST /api/sync/cloud {"action":"enable"}',
    'POST /api/sync/cloud {"enrollmentToken":"an enrollment token","action":"enable"}',
    'POST /api/sync/cloud {"action":"sync"}',
    'POST /api/sync/cloud {"action":"check"}',
    'GET /api/sync/cloud/sessions',
    'DELETE /api/sync/cloud/sessions/a%2Fb',
  ])
})

actions('cloud.disable syncs first, and reports the conflicts of both steps', async () => {
  const { client, sent } = open({ sync: done('one'), disable: done('two') })
  assert.equal(await client.cloud.disable({ force: true }), done('one', 'two'))
  assert.equal(sent, [
    'POST /api/sync/cloud {"action":"sync"}',
    'POST /api/sync/cloud {"force":true,"action":"disable"}',
  ])
})

actions('cloud.disable is sent even if its sync fails, and the result contains the reason', async () => {
  const { client, sent } = open({ sync: { error: 'The cloud is away.' }, disable: done('two') })
  assert.equal(await client.cloud.disable(), { ...done('two'), syncError: 'The cloud is away.' })
  assert.is(sent.length, 2)
})

actions('cloud.disable rejects with its error, whether or not the sync failed', async () => {
  for (const sync of [done(), { error: 'The cloud is away.' }]) {
    const { client } = open({ sync, disable: { error: 'Give force to disable without it.' } })
    const error = await client.cloud.disable().catch((error: unknown) => error)
    assert.ok(error instanceof ClientError)
    assert.equal([error.status, error.message], [502, 'Give force to disable without it.'])
  }
})

actions('cloud.disable accepts responses without conflicts', async () => {
  for (const [sync, disable] of [
    [{ success: true }, done('two')],
    [done('two'), { success: true }],
  ] as const) {
    const { client } = open({ sync, disable })
    assert.equal(await client.cloud.disable(), done('two'))
  }
})

actions('a forced disable turns cloud sync off within 15 s, even if the proxy never responds', async () => {
  const proxy = fakeProxy()
  const { gateway, clock } = openManagement({ fetch: proxy.fetch, cloud: { enrollmentToken: ENROLLMENT_TOKEN } })
  await gateway.api.settings.update({ cloudUrl: CLOUD })
  await gateway.api.cloud.enable()
  await gateway.api.keys.create({ name: 'phone' })
  for (let index = 1; index < 5; index++)
    void proxy.failAt('POST /cloud/1/mirror', () => new Promise<never>(() => {}), { nth: index })
  const client = createClient({ baseUrl: 'http://gateway.test', token: TOKEN, fetch: gateway.fetch, clock })
  const before = clock.now()
  let done: object | undefined
  const ending = client.cloud.disable({ force: true }).then((response) => {
    done = response
  })
  while (!done && clock.now() - before < 15_000) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    await clock.advance(250)
  }
  await ending
  assert.equal(Object.keys(done ?? {}), ['success', 'conflicts', 'syncError'])
  assert.ok(clock.now() - before < 15_000, `${clock.now() - before} ms`)
  assert.is((await gateway.api.settings.get()).cloudEnabled, false)
  await gateway.close()
})

const settings = suite('cloudUrl values that a client saves')

/** The base URL as written, and the URL that is sent. */
const addresses: Array<[written: string, sent: string]> = [
  ['https://cloud.test', 'https://cloud.test'],
  ['https://cloud.test/', 'https://cloud.test'],
  ['https://cloud.test///', 'https://cloud.test'],
  ['https://cloud.test/v1', 'https://cloud.test'],
  ['https://cloud.test/v1/', 'https://cloud.test'],
  ['https://cloud.test//v1/', 'https://cloud.test'],
  ['https://cloud.test/v1//', 'https://cloud.test/v1'],
  ['https://cloud.test/v1/v1', 'https://cloud.test/v1'],
  ['https://cloud.test/ai/v1', 'https://cloud.test/ai'],
  ['https://cloud.test/av1', 'https://cloud.test/av1'],
  ['  https://cloud.test/v1 ', 'https://cloud.test'],
]

for (const [written, expected] of addresses) {
  settings(`the client sends the cloudUrl ${JSON.stringify(written)} as ${expected}`, async () => {
    const { client, sent } = open()
    await client.settings.update({ cloudUrl: written, requireApiKey: true })
    assert.equal(sent, [`PATCH /api/settings {"requireApiKey":true,"cloudUrl":"${expected}"}`])
    const { gateway } = openManagement() // the gateway derives the same value
    assert.is((await gateway.api.settings.update({ cloudUrl: written })).cloudUrl, expected)
  })
}

for (const empty of ['', ' ', '/', '/v1', '/v1/', '//']) {
  settings(`the client doesn't save the cloudUrl ${JSON.stringify(empty)}`, async () => {
    const { gateway } = openManagement()
    await gateway.api.settings.update({ cloudUrl: 'https://cloud.test' })
    const client = createClient({ baseUrl: 'http://gateway.test', token: TOKEN, fetch: gateway.fetch })
    assert.equal(await client.settings.update({ cloudUrl: empty }), await gateway.api.settings.get())
    const changed = await client.settings.update({ cloudUrl: empty, requireApiKey: true })
    assert.equal([changed.cloudUrl, changed.requireApiKey], ['https://cloud.test', true])
  })
}

settings('an update with only an empty cloudUrl just reads the current settings', async () => {
  const { client, sent } = open()
  await client.settings.update({ cloudUrl: '/v1/' })
  assert.equal(sent, ['GET /api/settings'])
})

settings('the client sends a non-string cloudUrl unchanged', async () => {
  const { client, sent } = open()
  await client.settings.update({ cloudUrl: 7 as unknown as string })
  await client.settings.update({})
  assert.equal(sent, ['PATCH /api/settings {"cloudUrl":7}', 'PATCH /api/settings {}'])
})
