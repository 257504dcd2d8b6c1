import { memoryStorage } from '../../adapters/storage/memory.ts'
import { getGatewayId } from '../../src/features/cloud-sync/cryptography.ts'
import { assert, suite } from '../support/suite.ts'
import { createClient } from './support/client.ts'
import { dyingStorage } from './support/failing-storage.ts'
import { createHome } from './support/gateway.ts'
import { openProxy } from './support/proxy.ts'
import { connectionState, keyState, markDeleted, settingsState } from './support/states.ts'

const test = suite('a cloud proxy killed during a write')

async function openWorld() {
  const storage = dyingStorage(memoryStorage())
  const world = openProxy({ storage })
  const home = createHome(await createClient(world.server))
  const id = await getGatewayId(home.client.kept.publicKey)
  const { value, state } = await keyState('one')
  const models = async (key = value) => {
    const headers = { authorization: `Bearer ${key}` }
    return (await world.current().fetch(new Request('http://proxy.test/v1/models', { headers }))).status
  }
  const states = [settingsState(true), state, connectionState('c', 'sk-provider-key-of-the-connection')]
  const getKeys = async () => (await storage.list('')).map(({ key }) => key)
  return { ...world, storage, home, id, value, state, states, models, keys: getKeys }
}

type World = Awaited<ReturnType<typeof openWorld>>

/** The setup, the action that is killed and repeated, and the final check. */
interface Case {
  before(world: World): Promise<unknown>
  action(world: World): Promise<unknown>
  after(world: World): Promise<void>
}

/** A key value chosen by the operator. */
const BROUGHT = 'sbx_a-key-of-the-host-of-forty-characters--'

const enabled = async ({ home, states }: World) => {
  await home.open()
  await home.enable(states)
}

const cases: Readonly<Record<string, Case>> = {
  'while a gateway enrolls': {
    before: async () => {},
    action: ({ home }) => home.open(),
    async after({ home, states, models }) {
      await home.enable(states)
      assert.is(await models(), 200)
    },
  },

  'while a replica is created': {
    before: ({ home }) => home.open(),
    action: ({ home, states }) => home.enable(states),
    async after({ models, proxy }) {
      assert.is((await proxy.tenants.list()).tenants.length, 1)
      assert.is(await models(), 200)
    },
  },

  'while a key is paused': {
    before: enabled,
    async action({ home, value }) {
      const { state } = await keyState('one', { value, edits: 2, isActive: false })
      await home.sync([state])
    },
    async after({ models }) {
      assert.is(await models(), 403)
    },
  },

  'while a key is deleted': {
    before: enabled,
    action: ({ home, state }) => home.sync([markDeleted(state, 2)]),
    async after({ models, keys }) {
      assert.is(await models(), 401)
      assert.equal(
        (await keys()).filter((key) => /^(directory|claims)\//.test(key)),
        [],
      )
    },
  },

  'while a replica is removed': {
    before: enabled,
    action: ({ home }) => home.disable(),
    async after({ keys, models, proxy, id, home, states }) {
      assert.is(await models(), 401)
      assert.equal((await proxy.tenants.list()).tenants, [])
      const left = (await keys()).filter((key) => !key.startsWith('challenges/'))
      assert.equal(left, [`enrolments/${id}`, 'settings', 'vault'])
      await home.enable(states)
      assert.is(await models(), 200)
    },
  },

  'while the operator creates a key': {
    before: enabled,
    action: ({ proxy, id }) => proxy.tenant(id).api.keys.put({ name: 'two', key: BROUGHT }),
    async after({ models, proxy, id }) {
      assert.is(await models(BROUGHT), 200)
      assert.is((await proxy.tenant(id).api.keys.list()).keys.length, 2)
    },
  },

  "while the operator replaces a key's value": {
    before: enabled,
    action: ({ proxy, id }) => proxy.tenant(id).api.keys.put({ id: 'one', name: 'one', key: BROUGHT }),
    async after({ models, proxy, id }) {
      assert.equal([await models(), await models(BROUGHT)], [401, 200])
      assert.is((await proxy.tenant(id).api.keys.list()).keys.length, 1)
    },
  },

  'while the operator deletes a key': {
    before: enabled,
    action: ({ proxy, id }) => proxy.tenant(id).api.keys.delete('one'),
    async after({ models, home, proxy, id }) {
      assert.is(await models(), 401)
      await home.sync([])
      assert.equal((await proxy.tenant(id).api.keys.list()).keys, [])
    },
  },

  'while a tenant is deleted': {
    before: enabled,
    action: ({ proxy, id }) => proxy.tenants.delete(id),
    async after({ keys, models }) {
      assert.is(await models(), 401)
      const left = (await keys()).filter((key) => !key.startsWith('challenges/'))
      assert.equal(left, ['settings', 'vault'])
    },
  },
}

for (const [name, { before, action, after }] of Object.entries(cases))
  test(`a proxy killed ${name} recovers after a restart`, async () => {
    for (const when of ['before', 'after'] as const) {
      for (let write = 1; ; write++) {
        const world = await openWorld()
        await before(world)
        world.storage.dieAt(write, when)
        await action(world).catch(() => {})
        const wasKilled = world.storage.revive()
        world.restart()
        const again = { ...world, proxy: world.current() }
        if (wasKilled) await action(again).catch((error: unknown) => assertGone(name, error))
        await after(again).catch((error: Error) => {
          throw new Error(`killed ${when} write ${write}: ${error.message}`, { cause: error })
        })
        if (!wasKilled) {
          assert.ok(write > 1, 'the action wrote nothing')
          break
        }
      }
    }
  })

/** A repeated action may report that its work is already done. */
function assertGone(name: string, error: unknown): void {
  const isGone = error instanceof Error && 'code' in error && error.code === 'NOT_FOUND'
  assert.ok(isGone && /the operator deletes a key|a tenant is deleted/.test(name), String(error))
}
