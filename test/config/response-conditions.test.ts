import type { ResponseConditionFunction } from '../../src/config/code-config.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { chatEvents, chatResponse, messageResponse } from '../pipeline/support/responses.ts'
import { json, type Respond, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { getOutcome, openRouted } from './support/routed.ts'

const test = suite('response conditions that are functions')

/** Each provider responds with its name. */
const respondWithName: Respond = ({ provider, url, body }) => {
  if (url.pathname.endsWith('/messages')) return json(messageResponse(provider))
  return JSON.parse(body).stream ? sse(chatEvents(provider)) : json(chatResponse(provider))
}

const withFunction = (condition: ResponseConditionFunction, extra: GatewayOptions = {}) => ({
  combos: { picky: { models: ['one/m', 'two/m'], on: [condition] }, outer: ['picky', 'claude/m'] },
  respond: respondWithName,
  ...extra,
})

async function readText(response: Response): Promise<string> {
  const { choices } = (await response.json()) as ReturnType<typeof chatResponse>
  return choices[0]?.message.content ?? ''
}

test('a response condition can reject a response and trigger a fallback', async () => {
  const seen: unknown[] = []
  const { chat, upstream, records, attempts } = openRouted(
    withFunction(async (response, { model, header }) => {
      seen.push([response, model, header('x-tier')])
      return response.text === 'one'
    }),
  )
  const response = await chat({ model: 'picky' }, { headers: { 'x-tier': 'gold' } })
  assert.equal([response.status, await readText(response)], [200, 'two'])
  assert.equal(upstream.providers, ['one', 'two'])
  const [first] = seen as [[object]]
  assert.equal(first, [
    {
      provider: 'one',
      model: 'm',
      connectionId: 'one',
      text: 'one',
      toolCalls: [],
      finishReason: 'stop',
      usage: { inputTokens: chatResponse().usage.prompt_tokens, outputTokens: chatResponse().usage.completion_tokens },
    },
    'picky',
    'gold',
  ])
  assert.equal(
    attempts.map(({ provider, outcome }) => [provider, outcome]),
    [
      ['one', 'unwanted'],
      ['two', 'answered'],
    ],
  )
  assert.equal(
    records[0]?.attempts.map(({ usage }) => usage?.outputTokens),
    [chatResponse().usage.completion_tokens, chatResponse().usage.completion_tokens],
  )
})

test('the client gets the last response if response conditions reject all of them', async () => {
  const { chat, upstream } = openRouted(withFunction(() => true))
  const response = await chat({ model: 'picky' })
  assert.equal([response.status, await readText(response), upstream.providers], [200, 'two', ['one', 'two']])
})

test('response conditions of outer and inner combos both apply, in the same response form', async () => {
  const { chat, upstream } = openRouted({
    combos: {
      inner: { models: ['claude/m', 'one/m'], on: [({ text }) => text === 'claude'] },
      outer: { models: ['inner', 'two/m'], on: ['content', ({ provider }) => provider === 'one'] },
    },
    respond: respondWithName,
  })
  const response = await chat({ model: 'outer' })
  assert.equal([await readText(response), upstream.providers], ['two', ['claude', 'one', 'two']])
})

test('the gateway buffers a stream until response conditions accept or reject it', async () => {
  const { chat, upstream } = openRouted(withFunction(({ text }) => text === 'one'))
  const response = await chat({ model: 'picky', stream: true })
  const text = await response.text()
  assert.equal([response.status, upstream.providers], [200, ['one', 'two']])
  assert.ok(text.includes('two') && !text.includes('one'), text)
})

test("response conditions aren't called for embeddings", async () => {
  let calls = 0
  const { post } = openRouted({
    ...withFunction(() => ++calls > 0),
    respond: () => json({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'm' }),
    models: { 'one/v': 'embedding' },
    combos: { vectors: { models: ['one/v'], kind: 'embedding', on: [() => ++calls > 0] } },
  })
  assert.is((await post('/v1/embeddings', { model: 'vectors', input: 'Hi' })).status, 200)
  assert.is(calls, 0)
})

const failing: Record<string, [ResponseConditionFunction, RegExp]> = {
  throws: [
    () => {
      throw new Error('no judge')
    },
    /no judge/,
  ],
  rejects: [() => Promise.reject(new Error('no judge')), /no judge/],
  'returns a string': [() => 'yes' as never, /true or false/],
  'returns nothing': [() => undefined as never, /true or false/],
}

for (const [label, [condition, problem]] of Object.entries(failing))
  for (const stream of [false, true])
    test(`when a response condition ${label}${stream ? ' for a stream' : ''}, the client gets a 503 and onError gets the cause`, async () => {
      const { chat, upstream, errors, records } = openRouted(withFunction(condition))
      assert.is(await getOutcome(await chat({ model: 'picky', stream })), '503 route_failed')
      assert.equal([upstream.providers, errors.length], [['one'], 1])
      assert.match(errors[0]?.message ?? '', problem)
      assert.match(errors[0]?.message ?? '', /"on" of the combo "picky"/)
      assert.ok((records[0]?.attempts[0]?.usage?.outputTokens ?? 0) > 0, 'the response is still charged')
    })

test('a response condition that hangs fails after a second, and its signal aborts', async () => {
  const signals: AbortSignal[] = []
  const { chat, clock } = openRouted(
    withFunction((_answer, _request, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    }),
  )
  const pending = chat({ model: 'picky' })
  while (signals.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await clock.advance(1_000)
  assert.is(await getOutcome(await pending), '503 route_failed')
  assert.is(signals[0]?.aborted, true)
})

test('onRouteError: "ignore" accepts the response if a response condition fails', async () => {
  const { chat, upstream, errors } = openRouted(withFunction(() => 'yes' as never, { onRouteError: 'ignore' }))
  const response = await chat({ model: 'picky' })
  assert.equal([await readText(response), upstream.providers, errors.length], ['one', ['one'], 1])
})

test('combos and explanations show which response conditions are functions', async () => {
  let calls = 0
  const { api } = openRouted({ combos: { picky: { models: ['one/m', 'two/m'], on: ['schema', () => ++calls > 0] } } })
  assert.equal((await api.combos.list()).combos[0]?.on, ['schema', 'function'])
  const { targets } = await api.explain({ model: 'picky' })
  assert.equal(
    targets.map(({ provider, on }) => [provider, on]),
    [
      ['one', ['schema', 'function']],
      ['two', ['schema', 'function']],
    ],
  )
  assert.is(calls, 0)
})

test('a reload replaces the response conditions', async () => {
  const { gateway, chat, upstream } = openRouted(withFunction(({ text }) => text === 'one'))
  const connections = { one: { apiKey: 'sk-1' }, two: { apiKey: 'sk-2' } }
  await gateway.reload({ connections, combos: { picky: { models: ['one/m', 'two/m'], on: [() => false] } } })
  await chat({ model: 'picky' })
  assert.equal(upstream.providers, ['one'])
})

test('the stored form of a response condition function is rejected', async () => {
  const make = (on: unknown) => () =>
    createGateway({ combos: { picky: { models: ['one/m'], on: on as never } }, logger: false })
  assert.throws(
    make(['function']),
    /^combos\.picky\.on\[0\] cannot contain "function"\. Pass the function to the options of createGateway\.$/,
  )
  assert.throws(make([() => true, 'refusal']), /^combos\.picky\.on\[0\] must be one of "content", "schema"/)
  assert.throws(
    make(() => true),
    /^combos\.picky\.on must be an array/,
  )
  const { api } = openRouted({})
  const stored = { name: 'stored', models: ['one/m'], on: ['function'] as never }
  const refusal = await api.combos.create(stored).catch((error: Error) => error.message)
  assert.match(
    String(refusal),
    /"on\[0\]" cannot contain "function"\. Pass the function to the options of createGateway/,
  )
})
