import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { isCi } from '../../support/ci.ts'
import { assert, suite } from '../../support/suite.ts'
import { openManagement } from '../open-management.ts'
import { type CallName, CLOUD, ENROLLMENT_TOKEN, fakeProxy } from './fake-proxy.ts'
import { faults } from './faults.ts'

const test = suite('failing cloud actions')

type Action = 'enable' | 'sync' | 'disable'

/** Opens a newly started gateway that is ready for the action. Having just started, it must open a session first. */
async function open(action: Action) {
  const storage = memoryStorage()
  const proxy = fakeProxy()
  const options = { storage, fetch: proxy.fetch, cloud: { enrollmentToken: ENROLLMENT_TOKEN } }
  const first = openManagement(options)
  await first.expect(200, 'PATCH', '/api/settings', { cloudUrl: CLOUD })
  if (action !== 'enable') {
    await first.expect(200, 'POST', '/api/sync/cloud', { action: 'enable' })
    await first.gateway.close()
    proxy.sessions.clear()
  }
  const management = openManagement(options)
  if (action !== 'enable') await management.gateway.api.keys.create({ name: 'another' })
  const sendAction = () => management.call('POST', '/api/sync/cloud', { action })
  const count = async () => (await storage.list('keys/')).length
  const isOn = async () => (await management.gateway.api.settings.get()).cloudEnabled
  return { ...management, storage, proxy, act: sendAction, count, isOn }
}

/** Lists the action's calls in order, by name and number, except the one that verifies the mirror, which may fail. */
async function listCalls(action: Action): Promise<[name: CallName, nth: number][]> {
  const { proxy, act } = await open(action)
  const before = proxy.names().length
  assert.is((await act()).status, 200)
  const names = proxy.names().slice(before)
  return names
    .map((name, index): [CallName, number] => [
      name,
      names.slice(0, index + 1).filter((other) => other === name).length,
    ])
    .filter(([name]) => name !== 'GET /v1/models')
}

/** Waits for several event loop turns, enough for all work that doesn't wait for timers. */
async function runTurns(count = 40) {
  for (let left = count; left > 0; left--) await new Promise((resolve) => setTimeout(resolve))
}

for (const action of ['enable', 'sync', 'disable'] as const) {
  test(`"${action}" returns a 502 or 504 within 15 s if a call fails, and can be retried`, async () => {
    const calls = await listCalls(action)
    assert.ok(calls.length >= 4, `${calls.length} calls`)
    for (const [index, [name, i]] of calls.entries()) {
      for (const [label, fault] of Object.entries(faults).filter((_, kind) => isCi || kind % 3 === index % 3)) {
        for (const isAfter of [false, true]) {
          if (isAfter && !/the port is closed|no body arrives/.test(label)) continue
          const location = `${action}: ${label} ${isAfter ? 'after' : 'at'} ${name}, ${i}.`
          const { proxy, act, count, isOn, clock } = await open(action)
          const [keys, before, wasOn] = [await count(), clock.now(), await isOn()]
          const met = proxy.failAt(name, fault.respond, { nth: i, isAfter })
          const acting = act()
          await met
          if (fault.status === 504) await clock.advance(15_000)
          const { status, body } = await acting
          assert.is(status, fault.status, `${location} ${JSON.stringify(body)}`)
          assert.is(clock.now() - before, fault.status === 504 ? 15_000 : 0, location)
          assert.ok(
            body.error.length > 20 && !/secret|sbx_|enrollment-token/.test(body.error),
            `${location} ${body.error}`,
          )
          await runTurns(3)
          for (let left = 100; left > 0 && proxy.open() > 0; left--) await runTurns(5) // waits for the calls of a background sync
          assert.is(proxy.open(), 0, `${location} no call was left open`)
          assert.equal([await isOn(), await count()], [wasOn, keys], `${location} nothing was changed`)
          const again = await act()
          assert.is(again.status, 200, `${location} again: ${JSON.stringify(again.body)}`)
          assert.equal([await isOn(), await count()], [action !== 'disable', Math.max(1, keys)], location)
          assert.is(proxy.tenant() === undefined, action === 'disable', location)
        }
      }
    }
  })
}

test('a cloud action changes nothing if its response arrives after the timeout', async () => {
  for (const [name, index] of await listCalls('enable')) {
    const { proxy, act, storage, clock, isOn } = await open('enable')
    const met = proxy.failAt(
      name,
      async (_url, _init, response) => {
        await clock.sleep(16_000)
        return response ?? Response.error()
      },
      { nth: index, isAfter: true },
    )
    const acting = act()
    await met
    await clock.advance(15_000)
    assert.is((await acting).status, 504, name)
    await runTurns()
    const before = JSON.stringify(await storage.list(''))
    await clock.advance(10_000)
    await runTurns()
    assert.is(JSON.stringify(await storage.list('')), before, `${name}, ${index}.`)
    assert.equal([await isOn(), (await storage.list('keys/')).length], [false, 0])
  }
})
