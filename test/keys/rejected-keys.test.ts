import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../src/types.ts'
import { chatChunk } from '../pipeline/support/responses.ts'
import { fakeUpstream, sse } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('rejected keys stay rejected')

/** Opens a gateway with an in-flight stream on a store without `watch`, and another gateway on the same storage. */
async function world() {
  const { watch: _, ...storage } = memoryStorage()
  const upstream = fakeUpstream(() => sse([chatChunk({ content: 'Once' })], 'hang'))
  const here = await openWorld({ fetch: upstream, storage })
  const other = (await openWorld({ storage, connections: [] })).api
  const group = await here.api.groups.create({ name: 'team' })
  const { key, id } = await here.api.keys.create({ name: 'one', group: group.id })
  const send = () => here.chat({ model: 'one/m', stream: true, messages: [] }, { headers: { 'x-api-key': key } })
  const stream = (await send()).body?.getReader()
  await stream?.read()
  return { ...here, storage, other, group, id, send, stream }
}

type World = Awaited<ReturnType<typeof world>>

const rejections: Record<string, { status: number; reject(world: World): Promise<unknown> }> = {
  'is paused': { status: 403, reject: ({ other, id }) => other.keys.update(id, { isActive: false }) },
  'is deleted': { status: 401, reject: ({ other, id }) => other.keys.delete(id) },
  'is in a group that is paused': {
    status: 403,
    reject: ({ other, group }) => other.groups.update(group.id, { isActive: false }),
  },
}

for (const [label, { status, reject }] of Object.entries(rejections))
  for (const lateMs of [0, 1, 20, 500, 999])
    test(`a key that ${label} on another gateway is still rejected ${lateMs} ms after its stream ended`, async () => {
      const { clock, send, stream, api, ...others } = await world()
      if (label === 'is deleted') await api.settings.update({ requireApiKey: true })
      await clock.advance(1_985)
      await (await send()).body?.cancel() // rereads the key 15 ms before the gateway rereads the keys of in-flight requests
      await reject({ clock, send, stream, api, ...others })
      await clock.advance(15)
      while (!(await stream?.read())?.done);
      await clock.advance(lateMs)
      assert.is((await send()).status, status)
    })

test('a key that is resumed on another gateway is accepted within a second', async () => {
  const { clock, send, stream, other, id } = await world()
  await other.keys.update(id, { isActive: false })
  await clock.advance(1_000)
  while (!(await stream?.read())?.done);
  assert.is((await send()).status, 403)
  await other.keys.update(id, { isActive: true })
  await clock.advance(1_000)
  assert.is((await send()).status, 200)
})

for (const [prefix, list] of [
  ['keys/', 'keys'],
  ['groups/', 'groups'],
] as const)
  test(`an unsigned record in ${prefix} is reported once, when it is read`, async () => {
    const storage: Storage = memoryStorage()
    const { api, recorded } = await openWorld({ storage, connections: [] })
    await api.groups.create({ name: 'team' })
    await api.keys.create({ name: 'one' })
    for (const { key, value } of await storage.list(prefix)) {
      const { record, ...envelope } = JSON.parse(value)
      const { mac: _, ...without } = record
      await storage.set(key, JSON.stringify({ ...envelope, record: without }))
    }
    await api[list].list()
    await api[list].list()
    const reported = recorded.errors.splice(0).map((error) => (error instanceof Error ? error.message : ''))
    assert.is(reported.length, 1)
    assert.match(reported[0] ?? '', new RegExp(`^The stored record ${prefix}[^ ]+ is damaged: "mac" is missing`))
  })
