import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { byCookie } from './support/app.ts'
import { SECRET } from './support/token-world.ts'

const test = suite('per-account state')

const storage = memoryStorage()

/** Opens an app that pins requests for `pool` to one of three targets. Providers in `down` fail. */
async function open() {
  const down = new Set<string>()
  const upstream = fakeUpstream(({ provider }) =>
    down.has(provider) ? json({ error: { message: 'down' } }, 500) : json(chatResponse()),
  )
  const gateway = createGateway({
    storage,
    secret: SECRET,
    fetch: upstream,
    catalog,
    logger: false,
    identify: byCookie,
  })
  const { api } = gateway
  if ((await api.combos.list()).combos.length === 0) {
    for (const provider of ['one', 'two', 'three']) await api.connections.create({ provider, apiKey: `of-${provider}` })
    await api.combos.create({ name: 'pool', models: ['one/m', 'two/m', 'three/m'], strategy: 'sticky' })
  }
  return { gateway, api, upstream, down }
}

type Send = (path: string, body: JsonObject) => Promise<Response>

const send =
  ({ fetch }: { fetch(url: string, init: RequestInit): Promise<Response> }, headers: Record<string, string>): Send =>
  (path, body) =>
    fetch(`http://app.test${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-signalbox-session': 'talk', ...headers },
      body: JSON.stringify(body),
    })

/** Opens callers that all use the same session ID: two users, a token, a key, and an in-process user. */
async function openCallers(gateway: Gateway) {
  const { token } = await gateway.api.tokens.mint({ account: 'carol' })
  const { key } = await gateway.api.keys.create({ name: 'app', account: 'dave' })
  return {
    alice: send(gateway, { cookie: 's=alice' }),
    bob: send(gateway, { cookie: 's=bob' }),
    carol: send(gateway, { 'x-api-key': token }),
    dave: send(gateway, { 'x-api-key': key }),
    erin: send(gateway.as({ account: 'erin' }), {}),
  }
}

test('a session belongs to one account, even if another account uses the same session ID', async () => {
  const { gateway, upstream, down } = await open()
  const { alice, ...others } = await openCallers(gateway)
  const pick = async (send: Send) => {
    await (await send('/v1/chat/completions', { model: 'pool', messages: [] })).text()
    return upstream.providers.at(-1) ?? ''
  }
  const home = await pick(alice)
  down.add(home)
  const moved = await pick(alice)
  assert.is.not(moved, home)
  down.clear()
  await gateway.api.health.reset()
  assert.is(await pick(alice), moved)
  const away: string[] = []
  for (const [name, other] of Object.entries(others)) if ((await pick(other)) === moved) away.push(name)
  assert.equal(away, [], "all other callers are still on the session's first target")
  const second = await open()
  const { alice: elsewhere, bob } = await openCallers(second.gateway)
  await elsewhere('/v1/chat/completions', { model: 'pool', messages: [] })
  await bob('/v1/chat/completions', { model: 'pool', messages: [] })
  assert.equal(second.upstream.providers, [moved, home])
})

test("an account can't reference an item from another account's response", async () => {
  const { gateway } = await open()
  const { alice, ...others } = await openCallers(gateway)
  const request = { role: 'user', content: 'Hi' }
  const response = await alice('/v1/responses', { model: 'one/m', input: [request] })
  const { output } = (await response.json()) as { output: Array<{ id: string }> }
  const input = [request, ...output.map(({ id }) => ({ type: 'item_reference', id })), request]
  for (const [name, other] of Object.entries(others)) {
    const rejected = await other('/v1/responses', { model: 'one/m', input })
    assert.is(rejected.status, 400, name)
    assert.match((await rejected.json()).error.message, output[0]?.id ?? 'no item')
  }
  assert.is((await alice('/v1/responses', { model: 'one/m', input })).status, 200)
})
