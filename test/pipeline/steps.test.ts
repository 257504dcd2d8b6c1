import { memoryStorage } from '../../adapters/storage/memory.ts'
import { gatewayError } from '../../src/errors.ts'
import { createGatewayWith, type Steps } from '../../src/gateway.ts'
import type { UsageRecord } from '../../src/usage/record.ts'
import { assert, suite } from '../support/suite.ts'
import { chatAnswer, chatEvents } from './support/answers.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'

const test = suite('steps that stand between the parts of the gateway')

const none: Steps = { afterKey: [], aroundAttempt: [], atEnd: [] }

/** A gateway with these steps and two connections, of which the first always fails. */
async function open(steps: Partial<Steps>) {
  const up = fakeUpstream(({ url, body }) => {
    if (url.hostname === 'one.test') return json({ error: { message: 'Overloaded' } }, 503)
    return JSON.parse(body).stream ? sse(chatEvents()) : json(chatAnswer())
  })
  const { gateway } = createGatewayWith({ storage: memoryStorage(), fetch: up, logger: false }, { ...none, ...steps })
  for (const provider of ['openai-compatible-one', 'openai-compatible-two'])
    await gateway.api.connections.create({
      provider,
      apiKey: 'k',
      providerSpecificData: { baseUrl: `https://${provider.slice(18)}.test/v1`, prefix: provider.slice(18) },
    })
  await gateway.api.combos.create({ name: 'both', models: ['one/m', 'two/m'] })
  const { key, id } = await gateway.api.keys.create({ name: 'me' })
  const chat = (body: object) =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'both', messages: [{ role: 'user', content: 'Hi' }], ...body }),
    })
  return { gateway, chat, up, keyId: id }
}

test('a limit after the key refuses a request before its route, in the format of the client', async () => {
  const seen: Array<string | undefined> = []
  const { chat, up, keyId } = await open({
    afterKey: [
      async ({ key }, next) => {
        seen.push(key?.id)
        if (seen.length > 1) throw gatewayError('TOO_BUSY', { message: 'One request is enough.' })
        return next()
      },
    ],
  })
  assert.is((await chat({})).status, 200)
  const calls = up.calls.length
  const refused = await chat({})
  assert.is(refused.status, 503)
  assert.is((await refused.json()).error.message, 'One request is enough.')
  assert.is(up.calls.length, calls)
  assert.equal(seen, [keyId, keyId])
})

test('a step around attempts reserves before each one and settles after it', async () => {
  const events: string[] = []
  const { chat } = await open({
    aroundAttempt: [
      async ({ target }, next) => {
        const { provider } = target.route.target
        events.push(`reserve ${provider.slice(18)}`)
        const outcome = await next()
        events.push(`settle ${provider.slice(18)} ${outcome.kind}`)
        return outcome
      },
    ],
  })
  assert.is((await chat({})).status, 200)
  assert.equal(events, ['reserve one', 'settle one failed', 'reserve two', 'settle two answered'])
})

test('a step at the end gets the usage of each request, of a stream after its last byte', async () => {
  const records: UsageRecord[] = []
  const { chat, keyId } = await open({ atEnd: [{ onUsage: (record) => void records.push(record) }] })
  await (await chat({})).text()
  const streaming = await chat({ stream: true })
  assert.is(records.length, 1)
  await streaming.text()
  assert.is(records.length, 2)
  for (const { keyId: id, requestedModel } of records) assert.equal([id, requestedModel], [keyId, 'both'])
})
