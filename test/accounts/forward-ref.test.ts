import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { withEndUser } from '../../src/protocols/formats/with-end-user.ts'
import type { ClientFormat } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite("an account's ref as the end user")

test("providers get the account's ref instead of the client's user field", async () => {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const gateway = createGateway({
    storage: memoryStorage(),
    fetch: upstream,
    catalog,
    logger: false,
    accounts: { forwardRef: true },
  })
  const { api } = gateway
  await api.settings.update({ requireApiKey: false })
  await api.connections.create({ provider: 'one', apiKey: 'secret-of-one' })
  const send = async ({ fetch }: Pick<ReturnType<typeof gateway.as>, 'fetch'>, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const request = { ...init, body: JSON.stringify({ model: 'one/m', messages: [], ...body }) }
    await (await fetch('http://app.test/v1/chat/completions', request)).text()
    const { user, safety_identifier } = JSON.parse(upstream.calls.at(-1)?.body ?? '{}')
    return { user, safety_identifier }
  }
  const alice = gateway.as({ account: 'alice@example.com' })
  const { ref } = await api.accounts.put({ id: 'alice@example.com' })
  assert.equal(await send(alice, {}), { user: ref, safety_identifier: undefined })
  assert.equal(await send(alice, { user: 'alice@example.com' }), { user: ref, safety_identifier: undefined })
  assert.equal(await send(alice, { safety_identifier: 'x' }), { user: undefined, safety_identifier: ref })
  assert.equal(await send(gateway, { user: 'x' }), { user: 'x', safety_identifier: undefined })
})

test("the ref replaces the user field in every format except Gemini's, which has none", () => {
  const replaceUser = (format: ClientFormat, body: Parameters<typeof withEndUser>[1]) => withEndUser(format, body, 'r')
  assert.equal(replaceUser('anthropic-messages', { metadata: { user_id: 'x', a: 1 } }), {
    metadata: { user_id: 'r', a: 1 },
  })
  assert.equal(replaceUser('anthropic-messages', {}), { metadata: { user_id: 'r' } })
  assert.equal(replaceUser('openai-responses', { user: 'x' }), { user: 'r' })
  assert.equal(replaceUser('gemini', { contents: [] }), { contents: [] })
  assert.equal(replaceUser('ai-sdk', { providerOptions: { openai: { user: 'x', store: true }, google: {} } }), {
    providerOptions: { openai: { user: 'r', store: true }, google: {}, signalbox: { user: 'r' } },
  })
})
