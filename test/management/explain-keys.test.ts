import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('explaining a request for a key')

async function world() {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const opened = await openWorld({ fetch: upstream, combos: { pool: ['one/m', 'two/m'] } })
  const { api } = opened
  const group = await api.groups.create({ name: 'g' })
  const { id, key } = await api.keys.create({ name: 'k', group: group.id })
  const sendRequest = async (model = 'pool') => {
    const { targets, error } = await api.explain({ model, keyId: id })
    return { uses: targets.map(({ provider, use, why }) => [provider, use, why.slice(0, 26)]), error }
  }
  const send = () => opened.chat({ model: 'pool', messages: [] }, { headers: { 'x-api-key': key } })
  return { ...opened, upstream, id, group: group.id, ask: sendRequest, send }
}

test("an explanation lists the targets that the key doesn't allow", async () => {
  const { api, id, ask, upstream } = await world()
  assert.is((await ask()).error, undefined)
  await api.keys.update(id, { models: ['two/*'] })
  const { uses, error } = await ask()
  assert.equal(
    uses.map(([provider, use]) => [provider, use]),
    [
      ['one', 'skipped'],
      ['two', 'first'],
    ],
  )
  assert.match(uses[0]?.[2] ?? '', /^the API key is not allowed/)
  assert.is(error, undefined)
  const other = (await ask('one/m')).error
  assert.equal([other?.status, other?.code], [403, 'MODEL_NOT_ALLOWED'])
  await api.keys.update(id, { models: ['pool'] })
  assert.is((await ask()).error, undefined)
  await api.keys.update(id, { models: null, kinds: ['tts'] })
  assert.match((await ask()).error?.message ?? '', /is not allowed to use models of kind "llm"/)
  assert.is(upstream.calls.length, 0)
})

test('an explanation states why the key is rejected', async () => {
  const { api, id, group, ask, clock, send } = await world()
  const code = async () => (await ask()).error?.code
  await api.keys.update(id, { isActive: false })
  assert.is(await code(), 'KEY_PAUSED')
  await api.keys.update(id, { isActive: true, expiresAt: new Date(clock.now() + 1_000).toISOString() })
  assert.is(await code(), undefined)
  await clock.advance(1_000)
  assert.is(await code(), 'KEY_EXPIRED')
  await api.keys.update(id, { expiresAt: null })
  await api.groups.update(group, { isActive: false })
  assert.match((await ask()).error?.message ?? '', /The group of this API key is paused/)
  await api.groups.update(group, { isActive: true, limits: { requests: { day: 1 } } })
  assert.is(await code(), undefined)
  assert.is((await send()).status, 200)
  const { uses, error } = await ask()
  assert.equal([uses.length, error?.status, error?.code], [2, 429, 'RATE_LIMIT_EXCEEDED'])
  assert.match(error?.message ?? '', /^The group's limit "requests\.day" of 1 is used up until 2026-01-02/)
  const unknown = await api.explain({ model: 'pool', keyId: 'nobody' }).catch(({ message }) => message)
  assert.is(unknown, 'Key not found')
})
