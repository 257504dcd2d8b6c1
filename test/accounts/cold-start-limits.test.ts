import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { catalog } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('account limits on a cold instance')

function open(storage: Storage) {
  const gateway = createGateway({
    ...{ storage, catalog, logger: false, secret: 'a secret of 32 characters or more' },
    connections: { one: { apiKey: 'sk-one' } },
    plans: { free: { each: { requests: { day: 2 } }, limits: { requests: { day: 9 } } } },
    accounts: { defaultPlan: 'free' },
    fetch: async () => Response.json(chatResponse()),
  })
  const send = async (account: string) => {
    const response = await gateway.as({ account }).fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'one/m', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    await response.text()
    return response.status
  }
  return { gateway, send }
}

test('the gateway reads each counter once, in parallel with the account record', async () => {
  const inner = memoryStorage()
  const first = open(inner)
  assert.is(await first.send('ann'), 200)
  await first.gateway.close()

  const reads: string[] = []
  const counters = Promise.withResolvers<void>()
  const storage: Storage = {
    ...inner,
    async get(key) {
      reads.push(key.replace(/[^/]+$/, ''))
      if (reads.includes('limits/account/') && reads.includes('limits/group/')) counters.resolve()
      if (key.startsWith('accounts/')) await counters.promise
      return inner.get(key)
    },
  }
  const second = open(storage)
  assert.is(await second.send('ann'), 200)
  for (const prefix of ['accounts/', 'limits/account/', 'limits/group/'])
    assert.is(reads.filter((read) => read === prefix).length, 1, prefix)
  assert.equal([await second.send('ann'), await second.send('bob')], [429, 200])
  await second.gateway.close()
})

test("a cold instance enforces an account's own limits", async () => {
  const storage = memoryStorage()
  const first = open(storage)
  await first.gateway.api.accounts.put({ id: 'ann', limits: { requests: { day: 1 } } })
  await first.gateway.close()
  const second = open(storage)
  assert.equal([await second.send('ann'), await second.send('ann')], [200, 429])
  await second.gateway.close()
})

test("the gateway reads the counters again if it couldn't prefetch them", async () => {
  const inner = memoryStorage()
  const first = open(inner)
  assert.equal([await first.send('ann'), await first.send('ann')], [200, 200])
  await first.gateway.close()
  let failures = 0
  const failing: Storage = {
    ...inner,
    get: (key) =>
      key.startsWith('limits/') && failures++ < 2 ? Promise.reject(new Error('the network failed')) : inner.get(key),
  }
  const second = open(failing)
  assert.is(await second.send('ann'), 429)
  assert.ok(failures > 2)
  await second.gateway.close()
})
