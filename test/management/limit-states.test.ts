import { serveNode } from '../../adapters/mount/node.ts'
import { runCommand } from '../../src/cli/commands/run-command.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, token } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('limit states')

async function world() {
  const opened = await openWorld({ fetch: fakeUpstream(() => json(chatResponse())) })
  const { api, chat } = opened
  await api.settings.update({ limits: { requests: { total: 1_000 } } })
  const group = await api.groups.create({ name: 'team', limits: { requests: { month: 100 } } })
  const limited = { requests: { day: 10 }, parallel: 2 }
  const { id, key } = await api.keys.create({ name: 'a', group: group.id, limits: limited })
  const send = (of = key) => chat({ model: 'one/m', messages: [] }, { headers: { 'x-api-key': of } })
  const readUsed = async () =>
    (await api.keys.limits.get(id)).limits.map(({ scope, unit, window, used, remaining }) => [
      scope,
      unit,
      window,
      used,
      remaining,
    ])
  return { ...opened, id, key, group: group.id, send, used: readUsed }
}

test("a key's limits include the limits of its group and of the gateway", async () => {
  const { api, id, group, send, used } = await world()
  for (let times = 0; times < 3; times++) assert.is((await send()).status, 200)
  assert.equal(await used(), [
    ['key', 'requests', 'day', 3, 7],
    ['key', 'parallel', null, 0, 2],
    ['group', 'requests', 'month', 3, 97],
    ['gateway', 'requests', 'total', 3, 997],
  ])
  const [first] = (await api.keys.limits.get(id)).limits
  assert.equal(first, {
    scope: 'key',
    id,
    unit: 'requests',
    window: 'day',
    limit: 10,
    used: 3,
    reserved: 0,
    unsettled: 0,
    remaining: 7,
    resetsAt: '2026-01-02T00:00:00.000Z',
  })
  assert.equal(
    (await api.groups.limits.get(group)).limits.map(({ scope, used }) => [scope, used]),
    [
      ['group', 3],
      ['gateway', 3],
    ],
  )
  assert.equal((await api.settings.limits.get()).limits.length, 1)
})

test("resetting a key's limits doesn't reset its group's, and deleting the key removes its counts", async () => {
  const { api, id, group, send, used } = await world()
  await send()
  await api.keys.limits.reset(id)
  assert.equal(
    (await used()).map(([scope, , , count]) => [scope, count]),
    [
      ['key', 0],
      ['key', 0],
      ['group', 1],
      ['gateway', 1],
    ],
  )
  await send()
  await api.groups.limits.reset(group)
  await api.settings.limits.reset()
  assert.equal(
    (await used()).map(([, , , count]) => count),
    [1, 0, 0, 0],
  )

  const again = { id: 'app', name: 'app', limits: { requests: { day: 10 } } }
  const { key } = await api.keys.put(again)
  await send(key.key)
  await api.keys.delete('app')
  await api.keys.put(again)
  assert.is((await api.keys.limits.get('app')).limits[0]?.used, 0)
})

test('reads, resets, and settles limits over HTTP, with or without a body', async () => {
  const { expect, expectError } = openManagement()
  const { id } = await expect(201, 'POST', '/api/keys', { name: 'a', limits: { parallel: 1 } })
  const { id: free } = await expect(201, 'POST', '/api/keys', { name: 'free' })
  const { id: group } = await expect(201, 'POST', '/api/groups', { name: 'g' })
  assert.equal(await expect(200, 'GET', `/api/keys/${free}/limits`), { limits: [] } as unknown)
  assert.equal(await expect(200, 'GET', '/api/settings/limits'), { limits: [] } as unknown)
  for (const whose of [`/api/keys/${id}`, `/api/groups/${group}`, '/api/settings']) {
    await expect(200, 'GET', `${whose}/limits`)
    await expect(200, 'DELETE', `${whose}/limits`)
    await expect(200, 'POST', `${whose}/limits/settle`)
    await expect(200, 'POST', `${whose}/limits/settle`, { as: 'unspent' })
    await expectError(400, '"as" must be one of "spent", "unspent"', ['POST', `${whose}/limits/settle`, { as: 'paid' }])
    await expectError(400, 'Unknown field "ass". Did you mean "as"?', [
      'POST',
      `${whose}/limits/settle`,
      { ass: 'spent' },
    ])
  }
  for (const whose of ['/api/keys/nobody', '/api/groups/nobody'])
    for (const [method, path] of [
      ['GET', 'limits'],
      ['DELETE', 'limits'],
      ['POST', 'limits/settle'],
    ] as const)
      await expectError(404, whose.includes('keys') ? 'Key not found' : 'Group not found', [method, `${whose}/${path}`])
})

test('the CLI shows limit states', async () => {
  const { gateway, send, group } = await world()
  await send()
  const serving = await serveNode(gateway, { port: 0 })
  const run = async (...args: string[]) => {
    let printed = ''
    const out = (text: string) => {
      printed += text
    }
    const variables = { SIGNALBOX_URL: serving.url, SIGNALBOX_ADMIN_TOKEN: token }
    await runCommand(args, { variables, stdin: async () => '', terminal: { out, err: out } })
    return printed
  }
  assert.match(
    await run('keys', 'limits', 'a'),
    /^SCOPE +ID +LIMIT +MAX +USED.*\nkey .* requests\.day +10 +1 +0 +0 +9 /,
  )
  assert.match(await run('groups', 'limits', 'team'), new RegExp(`^group +${group} +requests\\.month +100 +1 `, 'm'))
  assert.match(await run('settings', 'limits'), /^gateway +.*requests\.total +1000 +1 +0 +0 +999/m)
  assert.match(await run('keys', 'limits', 'reset', 'a'), /Usage counters reset/)
  assert.match(await run('keys', 'limits', 'settle', 'a', '--as', 'unspent'), /have been settled/)
  assert.match(await run('keys', 'rotate', 'a', '--grace-ms', '1000'), /^key +sbx_/m)
  await serving.close()
})
