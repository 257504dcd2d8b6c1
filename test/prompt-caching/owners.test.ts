import { memoryStorage } from '../../adapters/storage/memory.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { fullResponses } from '../formats/cases/responses.ts'
import { openGateway } from '../formats/cases/support.ts'
import { json } from '../pipeline/support/upstream.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { listMarks } from './support/breakpoints.ts'
import { clientWriters, createConversation, listRequestEnds } from './support/conversations.ts'

const test = suite('prompt caching: accounts, groups, and plans')

const steps = createConversation(createRandom(3), 4)
const body = { ...clientWriters['openai-chat'](steps.slice(0, listRequestEnds(steps)[3])) }

/** Opens a gateway with prompt caching turned off globally. Returns whether requests with a key get breakpoints. */
async function open() {
  const { upstream, world } = await openGateway(() => json(fullResponses['anthropic-messages']), {
    catalog: defaultCatalog,
    connections: ['anthropic'],
    storage: memoryStorage(),
  })
  const isMarked = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` }
    const response = await world.chat({ ...body, model: 'anthropic/claude-sonnet-5-5' }, { headers })
    assert.is(response.status, 200, await response.clone().text())
    return listMarks(JSON.parse(upstream.calls.at(-1)?.body ?? '{}')).length > 0
  }
  return { api: world.api, isMarked }
}

test("a key follows the setting of its account, or else of the account's plan", async () => {
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

test('a key without a setting follows the setting of its group', async () => {
  const { api, isMarked } = await open()
  await api.groups.put({ id: 'agents', name: 'agents', promptCaching: { mode: 'auto', ttl: '1h' } })
  const { key: one } = await api.keys.create({ name: 'one', group: 'agents' })
  const { key: other } = await api.keys.create({ name: 'other', group: 'agents', promptCaching: 'off' })
  const { key: none } = await api.keys.create({ name: 'none' })
  assert.equal([await isMarked(one), await isMarked(other), await isMarked(none)], [true, false, false])
  assert.equal((await api.groups.get('agents')).promptCaching, { mode: 'auto', ttl: '1h' })
})

test('two API keys that use the same session name have different cache keys', async () => {
  const { upstream, world } = await openGateway(() => json(fullResponses['openai-chat']), {
    catalog: defaultCatalog,
    connections: ['mistral'],
  })
  await world.api.settings.update({ promptCaching: 'auto' })
  const cacheKeys = new Set<unknown>()
  for (const name of ['one', 'other']) {
    const { key } = await world.api.keys.create({ name })
    const headers = { authorization: `Bearer ${key}`, 'x-signalbox-session': 'same' }
    await world.chat({ ...body, model: 'mistral/mistral-large-3' }, { headers })
    cacheKeys.add(JSON.parse(upstream.calls.at(-1)?.body ?? '{}').prompt_cache_key)
  }
  assert.is(cacheKeys.size, 2)
  for (const cacheKey of cacheKeys) assert.match(String(cacheKey), /^[\w-]{22}$/)
})

test("the gateway's savings exclude savings from the client's breakpoints", async () => {
  const usage = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 50_000, cache_creation_input_tokens: 0 }
  const { world } = await openGateway(() => json({ ...fullResponses['anthropic-messages'], usage }), {
    catalog: defaultCatalog,
    connections: ['anthropic'],
    usage: true,
  })
  await world.api.settings.update({ promptCaching: 'auto' })
  const summarize = async () => (await world.api.usage.summary()).totals
  const request = clientWriters['anthropic-messages'](steps.slice(0, listRequestEnds(steps)[3]))
  const model = 'anthropic/claude-sonnet-5-5'
  await world.post('/v1/messages', { ...request, model, cache_control: { type: 'ephemeral' } })
  assert.is((await summarize()).cacheSavedUsd, undefined)
  assert.ok((world.recorded.requests.at(-1)?.promptCache?.savedUsd ?? 0) > 0)
  await world.post('/v1/messages', { ...request, model })
  assert.is((await summarize()).cacheSavedUsd, 0.095)
})
