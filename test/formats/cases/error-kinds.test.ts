import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'
import { anthropic, openai } from '../../pipeline/support/rejections.ts'
import { json, sse } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { providerOf, send } from './support.ts'

const test = suite('cases: errors that routing and translation classify the same way')

interface Case {
  from: WireFormat
  client: WireFormat
  respond: () => Response
  /** Whether the gateway tries the next target. */
  walks: boolean
  /** The status and error fields that the client receives if there is no other target. */
  status: number
  error?: JsonObject
  message?: RegExp
}

const rejectWith = (status: number, body: object) => () => json(body, status)
const failedResponse = (error: object) => () =>
  sse([
    `event: response.failed\ndata: ${JSON.stringify({ type: 'response.failed', response: { id: 'r', status: 'failed', error } })}\n\n`,
  ])

const cases: Record<string, Case> = {
  'an exhausted spending limit with status 400': {
    from: 'anthropic-messages',
    client: 'openai-chat',
    respond: rejectWith(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Limit', details: { error_code: 'spend_limit_reached' } },
    }),
    walks: true,
    status: 429,
    error: { code: 'insufficient_quota' },
  },
  'an exhausted spending limit with status 403': {
    from: 'openai-chat',
    client: 'anthropic-messages',
    respond: rejectWith(403, openai('You have reached your spending limit.')),
    walks: true,
    status: 502,
    message: /out of credit/,
  },
  'a rejected key with status 400': {
    from: 'anthropic-messages',
    client: 'openai-chat',
    respond: rejectWith(400, anthropic('authentication_error', 'invalid x-api-key')),
    walks: true,
    status: 502,
    message: /rejected the connection's credentials/,
  },
  'text about credit that may quote the request': {
    from: 'openai-chat',
    client: 'anthropic-messages',
    respond: rejectWith(400, openai('Bad input: Your credit balance is too low')),
    walks: false,
    status: 400,
    error: { type: 'invalid_request_error' },
  },
  'text about a context overflow that quotes the request': {
    from: 'openai-chat',
    client: 'openai-responses',
    respond: rejectWith(400, openai("Invalid value: 'maximum context length'.")),
    walks: false,
    status: 400,
    error: { code: null },
  },
  'a context overflow with status 500': {
    from: 'openai-chat',
    client: 'openai-responses',
    respond: rejectWith(500, openai('the request exceeds the available context size')),
    walks: false, // the next target may not have a larger context window
    status: 400,
    error: { code: 'context_length_exceeded' },
  },
  'a token limit with status 413': {
    from: 'openai-chat',
    client: 'anthropic-messages',
    respond: rejectWith(413, openai('Request too large', { code: 'rate_limit_exceeded' })),
    walks: true,
    status: 429,
    error: { type: 'rate_limit_error' },
  },
  'a capacity error with status 498': {
    from: 'openai-chat',
    client: 'anthropic-messages',
    respond: rejectWith(498, openai('Flex tier capacity exceeded')),
    walks: true,
    status: 502,
    error: { type: 'api_error' },
  },
  'an in-flight budget error with status 402': {
    from: 'openai-chat',
    client: 'anthropic-messages',
    respond: rejectWith(402, {
      error: { code: 402, message: 'no', metadata: { reason: 'openrouter_in_flight_budget' } },
    }),
    walks: true,
    status: 429,
    error: { type: 'rate_limit_error' },
  },
  'an unreadable image in a stream': {
    from: 'openai-responses',
    client: 'openai-chat',
    respond: failedResponse({ code: 'invalid_base64_image', message: 'bad image' }),
    walks: false,
    status: 400,
    error: { message: 'bad image' },
  },
  'an exhausted quota in a stream': {
    from: 'openai-responses',
    client: 'openai-chat',
    respond: failedResponse({ code: 'insufficient_quota', message: 'no' }),
    walks: true,
    status: 502,
    message: /out of credit/,
  },
}

for (const [name, { from, client, respond, walks, status, error = {}, message = /./ }] of Object.entries(cases)) {
  const stream = from === 'openai-responses'
  const first = providerOf[from]
  const second = from === 'gemini' ? 'chat' : 'gemini'

  test(`${walks ? 'the next target is tried' : 'no other target is tried'} after ${name}`, async () => {
    const { upstream } = await send({
      client,
      stream,
      model: 'chain',
      connections: [first, second],
      combos: { chain: [`${first}/m`, `${second}/m`] },
      respond: ({ provider }) => (provider === first ? respond() : json({ error: { message: 'down' } }, 503)),
    })
    assert.is(upstream.providers.includes(second), walks)
  })

  test(`a client gets the same error kind that routing uses for ${name}`, async () => {
    const { response } = await send({ client, stream, model: `${first}/m`, respond })
    const body = await response.json()
    assert.is(response.status, status)
    for (const [field, value] of Object.entries(error)) assert.equal(body.error[field], value, field)
    assert.match(body.error.message, message)
  })
}
