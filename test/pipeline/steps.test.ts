import { memoryStorage } from '../../adapters/storage/memory.ts'
import { gatewayError } from '../../src/errors.ts'
import { createGateway } from '../../src/gateway.ts'
import type { RequestStep } from '../../src/request/steps.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse, messageResponse } from './support/responses.ts'
import { openWith, type Steps, settling, toFeatures } from './support/steps.ts'
import { fakeUpstream, json } from './support/upstream.ts'

const test = suite('steps')

test("a step around requests can reject one in each client's format before a provider is called", async () => {
  const { post, upstream, requests, keyId } = await openWith({
    aroundRequest: [
      async () => {
        throw gatewayError('FORBIDDEN', { status: 402, message: 'Nothing is left.', headers: { 'x-left': '0' } })
      },
    ],
  })
  const paths = [
    '/v1/chat/completions',
    '/v1/completions',
    '/v1/messages',
    '/v1/messages/count_tokens',
    '/v1/responses',
    '/v1/responses/compact',
    '/v1beta/models/both:generateContent',
    '/v1/models/both:streamGenerateContent',
  ]
  for (const path of paths) {
    const reply = await post(path, {})
    const body = await reply.json()
    assert.equal([reply.status, reply.headers.get('x-left')], [402, '0'], path)
    assert.match(JSON.stringify(body), 'Nothing is left.')
    assert.is(path.includes('messages'), body.type === 'error')
    assert.is(path.includes(':'), typeof body.error.code === 'number')
  }
  assert.is(upstream.calls.length, 0)
  assert.equal(
    requests.map(({ status, end, error, keyId: id }) => [status, end, error, id]),
    paths.map(() => [402, 'refused', 'FORBIDDEN', keyId]),
  )
})

test('steps around requests only see model requests, and can add headers to their replies', async () => {
  const seen: string[] = []
  const { gateway, chat } = await openWith({
    aroundRequest: [
      async ({ route, key, log }, next) => {
        seen.push(`${route.operation.name} ${key?.name} ${log.id.length}`)
        const reply = await next()
        reply.headers['x-remaining'] = '9'
        return reply
      },
    ],
  })
  const origin = { origin: 'https://page.test', 'access-control-request-method': 'POST' }
  for (const [method, path] of [
    ['GET', '/v1/models'],
    ['GET', '/v1/nothing'],
    ['HEAD', '/v1/chat/completions'],
    ['OPTIONS', '/v1/chat/completions'],
    ['POST', '/v1/models/both:unknown'],
  ] as const)
    await gateway.fetch(`http://gateway${path}`, { method, headers: origin })
  assert.equal(seen, [])
  for (const stream of [false, true]) {
    const reply = await chat({ stream })
    assert.is(reply.headers.get('x-remaining'), '9')
    await reply.text()
  }
  assert.equal(seen, ['generate me 36', 'generate me 36'])
})

test('a step around attempts can reserve before each attempt, and settle the usage after the last byte', async () => {
  const events: string[] = []
  const { chat } = await openWith(settling(events))
  assert.is((await chat({})).status, 200)
  assert.equal(events, ['reserve one', 'one server -', 'reserve two', 'two answered 1'])
  events.length = 0
  const streaming = await chat({ stream: true })
  assert.equal(events, ['reserve one', 'one server -', 'reserve two'])
  await streaming.text()
  assert.is(events.at(-1), 'two answered 3')
})

test('an attempt settles once if its stream breaks off or its client disconnects', async () => {
  const events: string[] = []
  const { chat, requests } = await openWith(settling(events), chatEvents().slice(0, 3))
  await (await chat({ model: 'two/m', stream: true })).text()
  const left = await chat({ model: 'two/m', stream: true })
  await left.body?.cancel()
  const controller = new AbortController()
  const waiting = chat({ model: 'two/m' }, { signal: controller.signal })
  controller.abort()
  await waiting.catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, 0))
  assert.is(
    events.filter((event) => event === 'reserve two').length,
    events.filter((event) => /^two /.test(event)).length,
  )
  assert.equal(
    requests.map(({ end }) => end),
    ['cut', 'aborted', 'aborted'],
  )
})

test("a target rejected by a step is skipped, and outer steps learn that it wasn't called", async () => {
  const events: string[] = []
  const { aroundAttempt } = settling(events)
  const { chat, upstream } = await openWith({
    aroundAttempt: [
      ...aroundAttempt,
      async ({ target }, next) => {
        if (target.provider.endsWith('one')) throw gatewayError('FORBIDDEN', { message: 'Not this one.' })
        return next()
      },
    ],
  })
  const reply = await chat({})
  assert.equal([reply.status, upstream.providers], [200, ['two']])
  assert.is(
    reply.headers.get('x-signalbox-attempts'),
    'openai-compatible-one/m=skipped:refused;via=both:fallback, openai-compatible-two/m=200',
  )
  assert.equal(events, ['reserve one', 'one refused -', 'reserve two', 'two answered 1'])
})

test('the client gets the first rejection only if no target was called', async () => {
  const createRejecting = (name: string): Pick<Steps, 'aroundAttempt'> => ({
    aroundAttempt: [
      async ({ target }, next) => {
        if (target.provider.includes(name))
          throw gatewayError('FORBIDDEN', { status: 402, message: `Not ${target.provider}.` })
        return next()
      },
    ],
  })
  const all = await (await openWith(createRejecting('compatible'))).chat({})
  assert.equal([all.status, (await all.json()).error.message], [402, 'Not openai-compatible-one.'])
  const second = await (await openWith(createRejecting('two'))).chat({})
  assert.equal([second.status, (await second.json()).error.message], [503, 'Overloaded'])
})

test('a bug in a step rejects the target before the attempt, and has no effect after it', async () => {
  for (const isBefore of [true, false]) {
    const events: string[] = []
    const { aroundAttempt } = settling(events)
    const { chat } = await openWith({
      aroundAttempt: [
        ...aroundAttempt,
        async (_, next) => {
          if (!isBefore) await next()
          throw new Error('broken')
        },
      ],
    })
    const reply = await chat({ model: 'two/m' })
    assert.is(reply.status, isBefore ? 500 : 200)
    assert.equal(events, ['reserve two', isBefore ? 'two refused -' : 'two answered 1'])
  }
})

test('onEnd is called when a request has ended, which for a stream is after its last byte', async () => {
  const ended: string[] = []
  const { chat } = await openWith({
    aroundRequest: [
      (request, next) => {
        request.log.onEnd(({ status, end }) => ended.push(`${status} ${end}`))
        return next()
      },
    ],
  })
  await chat({})
  assert.equal(ended, ['200 complete'])
  const streaming = await chat({ stream: true })
  assert.is(ended.length, 1)
  await streaming.text()
  await chat({ model: 'nothing/here' })
  assert.equal(ended, ['200 complete', '200 complete', '404 refused'])
})

test('a step that ends a request after its stream has started leaves no call open', async () => {
  const late: RequestStep[] = [
    async (_, next) => {
      await next()
      throw gatewayError('FORBIDDEN', { status: 402 })
    },
    async (_, next) => {
      await next()
      return { status: 200, headers: {}, body: 'Another' }
    },
  ]
  for (const step of late) {
    const events: string[] = []
    const { chat, upstream, requests } = await openWith({ ...settling(events), aroundRequest: [step] })
    await (await chat({ model: 'two/m', stream: true })).text()
    await new Promise((resolve) => setTimeout(resolve, 0))
    assert.equal([upstream.open, requests.length, events.length], [0, 1, 2])
  }
})

test('a client disconnect ends a request with a waiting step, and the step still gets the outcome', async () => {
  const events: string[] = []
  let resume = () => {}
  const waiting = new Promise<void>((resolve) => {
    resume = resolve
  })
  const { aroundAttempt } = settling(events)
  const { chat, upstream, requests } = await openWith({
    aroundAttempt: [
      ...aroundAttempt,
      async (_, next) => {
        await waiting
        await next()
      },
    ],
  })
  const controller = new AbortController()
  const pending = chat({ model: 'two/m' }, { signal: controller.signal })
  while (events.length === 0) await new Promise((resolve) => setTimeout(resolve, 0))
  controller.abort()
  assert.is((await pending).status, 499)
  assert.equal(
    requests.map(({ end }) => end),
    ['aborted'],
  )
  resume()
  await new Promise((resolve) => setTimeout(resolve, 0))
  assert.equal(events, ['reserve two', 'two cancelled -'])
  assert.is(upstream.calls.length, 0)
})

test('a rejected target uses none of the retry budget', async () => {
  const { gateway, chat, upstream } = await openWith({
    aroundAttempt: [
      async ({ target }, next) => {
        if (target.model === 'not') throw gatewayError('FORBIDDEN')
        return next()
      },
    ],
  })
  for (let request = 0; request < 10; request++) {
    await gateway.api.health.reset() // so each request gets its own retry
    assert.is((await chat({ model: 'many' })).status, 200)
  }
  assert.is(upstream.calls.length, 20)
})

const responses = {
  'openai-chat': chatResponse(),
  'openai-responses': {
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }],
  },
  'anthropic-messages': messageResponse(),
  gemini: { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] },
}

/** A request in the path's format, the request that a provider of the given format receives, and the warning. */
const limits: Array<
  [path: string, format: keyof typeof responses, body: object, sent: object, warning: string | null]
> = [
  ['/v1/chat/completions', 'openai-chat', {}, { max_tokens: 50 }, 'clamped:max_completion_tokens=50'],
  [
    '/v1/chat/completions',
    'openai-chat',
    { max_completion_tokens: 90 },
    { max_completion_tokens: 50 },
    'clamped:max_completion_tokens=50',
  ],
  ['/v1/chat/completions', 'openai-chat', { max_tokens: 9 }, { max_tokens: 9 }, null],
  ['/v1/responses', 'openai-responses', { input: 'Hi' }, { max_output_tokens: 50 }, 'clamped:max_output_tokens=50'],
  ['/v1/messages', 'anthropic-messages', { max_tokens: 90 }, { max_tokens: 50 }, 'clamped:max_tokens=50'],
  [
    '/v1beta/models/one/m:generateContent',
    'gemini',
    { generationConfig: { topK: 3 } },
    { generationConfig: { topK: 3, maxOutputTokens: 50 } },
    'clamped:generationConfig.maxOutputTokens=50',
  ],
  [
    '/v1beta/models/one/m:generateContent',
    'gemini',
    { generation_config: { max_output_tokens: 90 } },
    { generation_config: { max_output_tokens: 50 } },
    'clamped:generationConfig.maxOutputTokens=50',
  ],
  ['/v1/chat/completions', 'anthropic-messages', {}, { max_tokens: 50 }, 'clamped:max_completion_tokens=50'],
  ['/v1/messages', 'openai-chat', { max_tokens: 90 }, { max_tokens: 50 }, 'clamped:max_tokens=50'],
  ['/v1/messages', 'openai-chat', { max_tokens: 9 }, { max_tokens: 9 }, null],
]

for (const [path, format, body, sent, warning] of limits)
  for (const strict of [false, true])
    test(`a step limits the output for ${JSON.stringify(body)} (${path}, ${format} provider${strict ? ', strict' : ''})`, async () => {
      const upstream = fakeUpstream(() => json(responses[format]))
      const gateway = createGateway({
        ...{ storage: memoryStorage(), fetch: upstream, logger: false, strict },
        extend: toFeatures({
          aroundAttempt: [
            (attempt, next) => {
              attempt.limitOutput(50)
              return next()
            },
          ],
        }),
      })
      await gateway.api.connections.create({
        provider: 'one',
        apiKey: 'k',
        providerSpecificData: { baseUrl: 'https://one.test/v1', format },
      })
      const messages = [{ role: 'user', content: 'Hi' }]
      const requested = path.includes(':')
        ? { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
        : { model: 'one/m', ...(!path.includes('responses') && { messages }) }
      const reply = await gateway.fetch(`http://gateway${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...requested, ...body }),
      })
      assert.is(reply.status, 200, await reply.text())
      const input = JSON.parse(upstream.calls[0]?.body ?? '{}')
      for (const [name, value] of Object.entries(sent)) assert.equal(input[name], value, JSON.stringify(input))
      assert.is(reply.headers.get('x-signalbox-warning'), warning)
    })

test("an attempt with an unreadable or empty response settles with its provider's reported usage", async () => {
  for (const [response, status] of [
    [
      {
        ...chatResponse(),
        choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }],
      },
      200,
    ],
    [{ ...chatResponse(), choices: ['none'] }, 502],
  ] as const) {
    const events: string[] = []
    const gateway = createGateway({
      ...{ storage: memoryStorage(), fetch: fakeUpstream(() => json(response)), logger: false },
      extend: toFeatures(settling(events)),
    })
    await gateway.api.connections.create({
      provider: 'openai-compatible-one',
      apiKey: 'k',
      baseUrl: 'https://one.test/v1',
      prefix: 'one',
    })
    const reply = await gateway.fetch('http://gateway/v1/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'one/m', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    assert.is(reply.status, status, await reply.text())
    assert.equal(events, ['reserve one', 'one content 1'])
  }
})
