import { memoryStorage } from '../../adapters/storage/memory.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { whole } from '../formats/cases/answers.ts'
import { openDoor } from '../formats/cases/support.ts'
import { json } from '../pipeline/support/upstream.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { clientWriters, createConversation, listRequestEnds } from './support/conversations.ts'
import { listMarks } from './support/marks.ts'

const test = suite('prompt caching: accounts, groups, and plans')

const steps = createConversation(createRandom(3), 4)
const body = { ...clientWriters['openai-chat'](steps.slice(0, listRequestEnds(steps)[3])) }

/** A gateway without prompt caching, and whether requests with a key are marked. */
async function open() {
  const { up, world } = await openDoor(() => json(whole['anthropic-messages']), {
    catalog: defaultCatalog,
    connections: ['anthropic'],
    storage: memoryStorage(),
  })
  const isMarked = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` }
    const response = await world.chat({ ...body, model: 'anthropic/claude-sonnet-5-5' }, { headers })
    assert.is(response.status, 200, await response.clone().text())
    return listMarks(JSON.parse(up.calls.at(-1)?.body ?? '{}')).length > 0
  }
  return { api: world.api, isMarked }
}

test('check 28: an account, and else its plan, decides for its keys', async () => {
  const { api, isMarked } = await open()
  await api.groups.put({ id: 'pro', name: 'pro', promptCaching: 'auto' })
  await api.accounts.put({ id: 'alice', plan: 'pro' })
  await api.accounts.put({ id: 'bob', plan: 'pro', promptCaching: 'off' })
  const { key: alice } = await api.keys.create({ name: 'alice', account: 'alice' })
  const { key: bob } = await api.keys.create({ name: 'bob', account: 'bob' })
  const { key: own } = await api.keys.create({ name: 'own', account: 'bob', promptCaching: 'auto' })
  assert.equal([await isMarked(alice), await isMarked(bob), await isMarked(own)], [true, false, true])
  await api.accounts.update('bob', { promptCaching: null })
  assert.is(await isMarked(bob), true)
  await api.groups.update('pro', { promptCaching: 'off' })
  assert.equal([await isMarked(alice), await isMarked(bob), await isMarked(own)], [false, false, true])
})

test('check 28: a group decides for its keys that say nothing themselves', async () => {
  const { api, isMarked } = await open()
  await api.groups.put({ id: 'agents', name: 'agents', promptCaching: { mode: 'auto', ttl: '1h' } })
  const { key: one } = await api.keys.create({ name: 'one', group: 'agents' })
  const { key: other } = await api.keys.create({ name: 'other', group: 'agents', promptCaching: 'off' })
  const { key: none } = await api.keys.create({ name: 'none' })
  assert.equal([await isMarked(one), await isMarked(other), await isMarked(none)], [true, false, false])
  assert.equal((await api.groups.get('agents')).promptCaching, { mode: 'auto', ttl: '1h' })
})
