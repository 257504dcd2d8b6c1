import { memoryStorage } from '../../../adapters/storage/memory.ts'
import type { GatewayOptions } from '../../../src/options.ts'
import { assert, suite } from '../../support/suite.ts'
import { openManagement } from '../open-management.ts'
import { countCalls, faults, type Respond } from './faults.ts'

const test = suite('the cloud action "check"')

const CLOUD = 'https://cloud.example/proxy'

async function open(respond: Respond, options: Partial<GatewayOptions> = {}) {
  const proxy = countCalls(respond)
  const management = openManagement({ fetch: proxy.fetch, ...options })
  await management.expect(200, 'PATCH', '/api/settings', { cloudUrl: CLOUD })
  return { ...management, proxy }
}

const hello: Respond = async () => Response.json({ service: 'signalbox-cloud', protocol: 1, more: true })

test('the cloud action "check" reports that the proxy is running, without a credential', async () => {
  const { expect, gateway, proxy } = await open(hello)
  const message = `The cloud proxy at ${CLOUD} is running.`
  assert.equal(await expect(200, 'POST', '/api/sync/cloud', { action: 'check' }), { message })
  assert.equal(await gateway.api.cloud.check(), { message })
  const [call] = proxy.calls
  assert.equal([call?.url, call?.init.method, call?.init.redirect], [`${CLOUD}/cloud/1`, 'GET', 'manual'])
  assert.is(new Headers(call?.init.headers).get('authorization'), null)
  assert.is(proxy.open(), 0)
})

for (const [name, { respond, status, message }] of Object.entries(faults)) {
  test(`the cloud action "check" returns ${status} within 8 s: ${name}`, async () => {
    const { call, clock, proxy } = await open(respond)
    const before = clock.now()
    const pending = call('POST', '/api/sync/cloud', { action: 'check' })
    if (status === 504) {
      await clock.untilPending()
      await clock.advance(7_999)
      await clock.advance(1)
    }
    const { status: answered, body } = await pending
    assert.is(answered, status, JSON.stringify(body))
    assert.match(body.error, message)
    assert.not.match(body.error, /secret/)
    assert.is(clock.now() - before, status === 504 ? 8_000 : 0)
    assert.is(proxy.open(), 0, 'no call was left open')
    assert.is(proxy.calls.length, 1, 'no redirect was followed')
  })
}

test('a proxy with another protocol version causes a 502 that explains what to do', async () => {
  const { expectError } = await open(async () => Response.json({ service: 'signalbox-cloud', protocol: 2 }))
  const error = `The cloud proxy at ${CLOUD} uses a protocol version other than 1. Run the same release on both sides.`
  await expectError(502, error, ['POST', '/api/sync/cloud', { action: 'check' }])
})

const actions = ['enable', 'sync', 'disable', 'check']
const KNOWN = 'Set "action" to one of "enable", "sync", "disable", "check".'
const refusals: [body: unknown, error: string][] = [
  [{}, KNOWN],
  [{ action: 'start' }, KNOWN],
  [{ action: null }, KNOWN],
  [{ action: ['check'] }, KNOWN],
  [{ action: 'toString' }, KNOWN],
  [{ Action: 'check' }, KNOWN],
  [[], 'The request body must be a JSON object.'],
  ['check', 'The request body must be a JSON object.'],
  [null, 'The request body must be a JSON object.'],
  [{ action: 'check', force: true }, 'Unknown field "force". Remove it.'],
  [{ action: 'sync', enrollmentToken: 'x'.repeat(40) }, 'Unknown field "enrollmentToken". Remove it.'],
  [
    { action: 'enable', enrolment: 'x'.repeat(40) },
    'Unknown field "enrolment". It was renamed. Use "enrollmentToken".',
  ],
  [{ action: 'enable', force: true }, 'Unknown field "force". Known: "enrollmentToken".'],
  [{ action: 'disable', enrollmentToken: 'x'.repeat(40) }, 'Unknown field "enrollmentToken". Known: "force".'],
  [{ action: 'disable', force: 'yes' }, '"force" must be true or false'],
  [
    { action: 'enable', enrollmentToken: 'x'.repeat(31) },
    '"enrollmentToken" must be the enrollment token of the proxy, at least 32 characters',
  ],
  [
    { action: 'enable', enrollmentToken: 5 },
    '"enrollmentToken" must be the enrollment token of the proxy, at least 32 characters',
  ],
]
for (const [body, error] of refusals) {
  test(`the body ${JSON.stringify(body).slice(0, 60)} gets a 400 that explains what to send`, async () => {
    const { expectError, proxy } = await open(hello)
    await expectError(400, error, ['POST', '/api/sync/cloud', body])
    assert.is(proxy.calls.length, 0)
  })
}

test('each action without a cloudUrl gets a 400 that explains where to set it', async () => {
  const { expectError } = openManagement({ fetch: countCalls(hello).fetch })
  const error = 'No cloud proxy is set up. Send PATCH /api/settings with its URL as "cloudUrl" first.'
  for (const action of actions) await expectError(400, error, ['POST', '/api/sync/cloud', { action }])
})

test('sync, disable, and the sessions get a 409 while cloud sync is off', async () => {
  const { expectError, proxy } = await open(hello)
  const error = 'Cloud sync is off. Turn it on first: POST /api/sync/cloud with the action "enable".'
  for (const action of ['sync', 'disable']) await expectError(409, error, ['POST', '/api/sync/cloud', { action }])
  await expectError(409, error, ['GET', '/api/sync/cloud/sessions'])
  await expectError(409, error, ['DELETE', '/api/sync/cloud/sessions/x'])
  assert.is(proxy.calls.length, 0)
})

test('the status of a gateway without a mirror reports that there is none', async () => {
  const { expect, gateway, proxy } = await open(hello)
  const state = { cloudEnabled: false, cloudUrl: CLOUD, lastSuccessAt: null, lagMs: 0, lastError: null, conflicts: [] }
  assert.equal(await expect(200, 'GET', '/api/sync/cloud'), state)
  assert.equal(await gateway.api.cloud.get(), state)
  assert.is(proxy.calls.length, 0)
})

test('a conflict side that an earlier build stored as "home" is shown as the gateway', async () => {
  const storage = memoryStorage()
  const conflict = { collection: 'keys', id: 'k1', at: '2026-01-01T00:00:00.000Z' }
  await storage.set('cloud/mirror', JSON.stringify({ conflicts: [{ ...conflict, kept: 'home' }] }))
  const { gateway } = await open(hello, { storage })
  assert.equal((await gateway.api.cloud.get()).conflicts, [{ ...conflict, kept: 'gateway' }])
})
