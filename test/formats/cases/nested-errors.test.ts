import type { JsonObject } from '../../../src/lib/json.ts'
import { loadErrorReaders } from '../../../src/protocols/formats/errors/load-error-readers.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json, sse } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { output as sayings } from './responses.ts'
import { getData, getEvents, providerOf, send } from './support.ts'

const test = suite('cases: upstream errors that routers quote')

test.before(() => loadErrorReaders())

const LONG = 'prompt is too long: 213423 tokens > 200000 maximum'
const FILTERED = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."

const anthropics = { type: 'error', error: { type: 'invalid_request_error', message: LONG } }
const openaiError = (message: string, code: string | null = null) => ({
  error: { message, type: 'invalid_request_error', code },
})

/** Errors from routers and proxies that contain another error. `output` is the text that clients must receive. */
const nested: Record<string, [error: JsonObject, output: string]> = {
  'JSON in `metadata.raw` (OpenRouter)': [
    {
      message: 'Provider returned error',
      code: 400,
      metadata: { raw: JSON.stringify(anthropics), provider_name: 'Anthropic' },
    },
    LONG,
  ],
  'an object in `metadata.raw`': [
    { message: 'Provider returned error', code: 502, metadata: { raw: anthropics } },
    LONG,
  ],
  'events in `metadata.raw`': [
    {
      message: 'Stream error occurred',
      code: 502,
      metadata: { raw: `event: error\ndata: ${JSON.stringify(anthropics)}\n\n` },
    },
    LONG,
  ],
  'plain text in `metadata.raw`': [{ message: 'Stream error occurred', code: 502, metadata: { raw: LONG } }, LONG],
  'JSON in JSON': [
    { message: 'Stream error occurred', metadata: { raw: JSON.stringify({ error: JSON.stringify(anthropics) }) } },
    LONG,
  ],
  'JSON as the message': [{ message: JSON.stringify(anthropics), type: 'upstream_error' }, LONG],
  'JSON after an error class (LiteLLM)': [
    { message: `litellm.BadRequestError: AnthropicException - ${JSON.stringify(anthropics)}`, code: '400' },
    LONG,
  ],
  'a Python error': [
    { message: `OpenAIException - Error code: 400 - {'error': {'message': "${LONG}", 'code': None}}`, code: '500' },
    LONG,
  ],
  'truncated JSON': [{ message: `upstream error: ${JSON.stringify(anthropics).slice(0, -2)}`, code: 502 }, LONG],
  'an error within an error': [
    { message: 'Stream error occurred', code: 'server_error', error: anthropics.error },
    LONG,
  ],
  'an envelope within an error': [{ message: 'Stream error occurred', error: anthropics }, LONG],
  'a cause': [
    { message: 'Stream error occurred', cause: { name: 'AI_APICallError', responseBody: JSON.stringify(anthropics) } },
    LONG,
  ],
  "one provider's error among several": [
    {
      message: 'All providers failed',
      errors: [
        { provider: 'one', status: 503, message: 'Overloaded' },
        { provider: 'two', status: 400, error: openaiError(LONG, 'context_length_exceeded').error },
      ],
    },
    LONG,
  ],
  'earlier errors (OpenRouter)': [
    {
      message: 'Provider returned error',
      code: 502,
      metadata: { previous_errors: [{ code: 400, message: LONG, provider_name: 'x' }] },
    },
    LONG,
  ],
  'only a code': [
    { message: 'Stream error occurred', error: { code: 'context_length_exceeded' } },
    'Stream error occurred',
  ],
  'a content filter': [
    {
      message: 'Provider returned error',
      code: 502,
      metadata: { raw: JSON.stringify(openaiError(FILTERED, 'content_filter')) },
    },
    FILTERED,
  ],
  'text after a tag in brackets (Google)': [
    { message: 'x', details: [{ '@type': 'y', detail: `[ORIGINAL ERROR] generic::invalid_argument: ${LONG}` }] },
    LONG,
  ],
  'an object in `param` (Vercel)': [
    { message: 'Request failed', param: { statusCode: 400, error: openaiError(FILTERED, 'content_filter').error } },
    FILTERED,
  ],
  'JSON in another field': [
    { message: 'Stream error occurred', details: { upstream: JSON.stringify(anthropics) } },
    LONG,
  ],
  "a vendor's response under its name": [
    { message: 'Stream error occurred', context: { azureResponse: openaiError(FILTERED, 'content_filter') } },
    FILTERED,
  ],
  'a content filter, in a list': [
    {
      message: 'All providers failed',
      attempts: [{ provider: 'azure', error: openaiError(FILTERED, 'content_filter') }],
    },
    FILTERED,
  ],
}

/** Returns the text that clients of each format look for when a prompt is too long. */
const words: Record<WireFormat, (error: JsonObject) => boolean> = {
  'openai-chat': ({ code }) => code === 'context_length_exceeded',
  'openai-responses': ({ code }) => code === 'context_length_exceeded',
  'anthropic-messages': ({ message, type }) =>
    /prompt is too long/.test(String(message)) && type === 'invalid_request_error',
  gemini: ({ message, status }) => /input token count/.test(String(message)) && status === 'INVALID_ARGUMENT',
}

/** Returns an error in each provider format's envelope. */
const envelope: Record<WireFormat, (error: JsonObject) => JsonObject> = {
  'openai-chat': (error) => ({ error }),
  'openai-responses': (error) => ({ error }),
  'anthropic-messages': (error) => ({ type: 'error', error: { type: 'api_error', ...error } }),
  gemini: (error) => ({ error: { ...error, code: 502 } }),
}

const inStream: Record<WireFormat, (error: JsonObject) => string> = {
  'openai-chat': (error) => `data: ${JSON.stringify({ error })}\n\n`,
  'openai-responses': (error) =>
    `event: response.failed\ndata: ${JSON.stringify({ type: 'response.failed', response: { id: 'resp_1', status: 'failed', error } })}\n\n`,
  'anthropic-messages': (error) => `event: error\ndata: ${JSON.stringify(envelope['anthropic-messages'](error))}\n\n`,
  gemini: (error) => `data: ${JSON.stringify(envelope.gemini(error))}\n\n`,
}

/** Returns the error that clients receive in a stream. */
function getError(events: JsonObject[]): JsonObject {
  const failed = events.flatMap(({ response }) => {
    const error = (response as JsonObject | undefined)?.error
    return error ? [error as JsonObject] : []
  })
  const errors: JsonObject[] = events.flatMap(({ error }): JsonObject[] => (error ? [error as JsonObject] : []))
  const none: JsonObject = {}
  return failed.at(-1) ?? errors.at(-1) ?? none
}

function check(client: WireFormat, error: JsonObject, words_: string): void {
  assert.ok(String(error.message).includes(words_), JSON.stringify(error))
  assert.is(words[client](error), words_ !== FILTERED, JSON.stringify(error))
}

for (const [label, [error, reason]] of Object.entries(nested))
  for (const from of wireFormats)
    for (const client of wireFormats) {
      const model = `${providerOf[from]}/m`

      test(`recognizes a nested error, whatever its status: ${label} (${from} provider, ${client} client)`, async () => {
        for (const status of [200, 400, 500, 502]) {
          const respond = () => json(envelope[from](error), status)
          const { response, world } = await send({ client, model, respond })
          assert.is(response.status, 400, `${status}`)
          check(client, (await response.json()).error, reason)
          const record = world.recorded.requests[0]
          if (reason !== FILTERED) assert.match(JSON.stringify(record), /context-overflow/)
        }
      })

      test(`recognizes a nested error in a stream: ${label} (${from} provider, ${client} client)`, async () => {
        const begin = getEvents(from, sayings[from]('a ', 'b ')).slice(0, 4)
        for (const events of [[inStream[from](error)], [...begin, inStream[from](error)]]) {
          const { response } = await send({ client, model, stream: true, respond: () => sse(events) })
          const result = response.status === 200 ? getError(await getData(response)) : (await response.json()).error
          const { type = 'invalid_request_error', status = 'INVALID_ARGUMENT' } = result
          check(client, { ...result, type, status }, reason)
        }
      })
    }

for (const [label, body, output] of [
  ['in `detail`', { detail: { error: { message: 'bad', inner_error: { message: LONG } } } }, LONG],
  ['in `errors`', { success: false, errors: [{ code: 7003, message: `AiError: ${LONG}` }] }, LONG],
  ['next to `error`', { error: 'Bad request', message: FILTERED }, FILTERED],
  ['without an envelope', { code: 'InvalidParameter', message: LONG, request_id: 'r' }, LONG],
] as const)
  for (const client of wireFormats)
    test(`recognizes an error ${label} in a body that isn't a response (${client} client)`, async () => {
      for (const status of [200, 400]) {
        const { response } = await send({ client, model: 'chat/m', respond: () => json(body, status) })
        assert.is(response.status, 400, `${status}`)
        check(client, (await response.json()).error, output)
      }
      if (label === 'next to `error`') return
      const respond = () =>
        sse([
          ...getEvents('openai-chat', sayings['openai-chat']('a ')).slice(0, 2),
          `data: ${JSON.stringify(body)}\n\n`,
        ])
      const { response } = await send({ client, model: 'chat/m', stream: true, respond })
      assert.ok(String(getError(await getData(response)).message).includes(output))
    })

test("request text quoted in an error isn't used as its reason", async () => {
  const error = {
    message: 'Invalid value',
    code: 'invalid_value',
    input: LONG,
    metadata: { request: { messages: [{ role: 'user', content: LONG }] } },
    details: [{ loc: ['messages', 0], msg: 'Field required', input: LONG }],
  }
  for (const [status, outcome] of [
    [400, 'client'],
    [502, 'server'],
  ] as const) {
    const { world } = await send({
      client: 'openai-responses',
      model: 'chat/m',
      respond: () => json({ error }, status),
    })
    assert.is(world.recorded.attempts[0]?.outcome, outcome)
  }
})

test('a credential quoted in an error is removed', async () => {
  const error = {
    message: 'Stream error occurred',
    metadata: { raw: `${LONG} (key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789)` },
  }
  for (const client of wireFormats)
    for (const stream of [false, true]) {
      const respond = () =>
        stream ? sse([inStream['anthropic-messages'](error)]) : json(envelope['anthropic-messages'](error), 502)
      const { response } = await send({ client, model: 'messages/m', stream, respond })
      const text = await response.text()
      assert.match(text, /213423 tokens/)
      assert.not.match(text, /abcdefghij/)
    }
})
