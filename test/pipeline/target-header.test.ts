import type { NewConnection } from '../../src/admin/connections.ts'
import { openManagement } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'

const test = suite('target names in x-signalbox-target')

const catalog = { openai: { alias: 'oa', baseUrl: 'http://openai.test/v1', models: [{ id: 'gpt-5' }] } }
const lab = (name: string): NewConnection => ({
  provider: 'openai-compatible',
  baseUrl: `http://${name}.test/v1`,
  prefix: name,
})

/** Opens a gateway that responds with the name of the called host. Its `send` returns that host and the target name for a model. */
async function open(connections: NewConnection[], status = 200) {
  const { gateway } = openManagement({
    catalog,
    fetch: async (input: RequestInfo | URL) => {
      const { host } = new URL(input instanceof Request ? input.url : input)
      return status === 200
        ? Response.json(chatResponse(host))
        : Response.json({ error: { message: host, type: 'invalid_request_error' } }, { status })
    },
  })
  for (const connection of connections) await gateway.api.connections.create(connection)
  const send = async (model: string) => {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] })
    const headers = { 'content-type': 'application/json' }
    const response = await gateway.fetch(new Request('http://g/v1/chat/completions', { method: 'POST', headers, body }))
    const [host] = /[a-z]+\.test/.exec(await response.text()) ?? []
    return { host, name: response.headers.get('x-signalbox-target') ?? '' }
  }
  return { api: gateway.api, send }
}

for (const status of [200, 400]) {
  test(`the target name selects the same one of a provider's connections after a ${status}`, async () => {
    const { send } = await open([lab('one'), lab('two'), lab('three')], status)
    for (const prefix of ['one', 'two', 'three']) {
      const first = await send(`${prefix}/vendor/m`)
      assert.equal(first, { host: `${prefix}.test`, name: `${prefix}/vendor/m` })
      assert.equal(await send(first.name), first)
    }
  })
}

test("the target name uses the provider's ID if that leads to one connection, whatever the requested name", async () => {
  const { send } = await open([{ provider: 'openai' }, lab('one')])
  for (const model of ['openai/gpt-5', 'oa/gpt-5']) assert.is((await send(model)).name, 'openai/gpt-5')
  assert.is((await send('one/m')).name, 'openai-compatible/m')
})

test("the target name uses another of the connection's names if an alias or a longer prefix takes the first", async () => {
  const { api, send } = await open([{ provider: 'openai' }, lab('one')])
  await api.aliases.set({ alias: 'openai/gpt-5', model: 'one/m' })
  assert.equal(await send('openai/gpt-5'), { host: 'one.test', name: 'openai-compatible/m' })
  assert.equal(await send('oa/gpt-5'), { host: 'openai.test', name: 'oa/gpt-5' })
  await api.connections.create({ ...lab('two'), prefix: 'openai-compatible/vendor', provider: 'other' })
  const through = await send('one/vendor/m')
  assert.equal(through, { host: 'one.test', name: 'one/vendor/m' })
  assert.equal(await send(through.name), through)
})
