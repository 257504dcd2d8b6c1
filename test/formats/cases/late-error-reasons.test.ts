import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { sse } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { output } from './responses.ts'
import { getEvents, providerOf, send } from './support.ts'

const test = suite('cases: reasons that follow a failure')

const FILTERED = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."

const formatEvent = (event: JsonObject) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const response = { id: 'resp_1', object: 'response', status: 'failed', output: [], error: null }
const failed = formatEvent({ type: 'response.failed', sequence_number: 8, response })
/** Failures with an empty error instead of `null`. */
const blanks = [
  {},
  { code: null, message: null },
  { code: '', message: '' },
  { code: 'server_error', message: '' },
].map((error) => formatEvent({ type: 'response.failed', sequence_number: 8, response: { ...response, error } }))
const fields = { code: 'content_filter', message: FILTERED, param: null }

/** The event that follows the failure (https://github.com/maximhq/bifrost/issues/6419). */
const reasons: Record<string, string> = {
  'as flat fields': formatEvent({ type: 'error', sequence_number: 9, ...fields }),
  'as an error object': formatEvent({
    type: 'error',
    sequence_number: 9,
    error: { type: 'invalid_request_error', ...fields },
  }),
}

/** Creates a stream that stays open without sending anything after these events. */
const hangingAfter = (events: readonly string[]) =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (const event of events) controller.enqueue(new TextEncoder().encode(event))
      },
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  )

const started = getEvents('openai-responses', output['openai-responses']('a ', 'b ')).slice(0, 5)

for (const client of wireFormats)
  for (const [mode, reason] of Object.entries(reasons)) {
    for (const [when, before] of Object.entries({ 'before any content': [], 'after some content': started }))
      test(`the gateway reads a failure's reason from the next event, ${mode}, ${when} (${client} client)`, async () => {
        for (const events of [failed, ...blanks].flatMap((failure) => [
          [...before, failure, reason],
          [...before, failure + reason],
        ])) {
          const { response, world } = await send({
            client,
            model: 'responses/m',
            stream: true,
            respond: () => sse(events),
          })
          const text = await response.text()
          assert.ok(text.includes(FILTERED), text)
          assert.is(text.split('response.failed').length > 3, false, text)
          assert.not.match(text, /"error":null/)
          assert.is(world.recorded.requests[0]?.status, 400)
        }
      })

    test(`the gateway reads a failure's reason from the next event, ${mode}, in an unrequested stream (${client} client)`, async () => {
      const { response } = await send({ client, model: 'responses/m', respond: () => sse([failed, reason]) })
      assert.equal([response.status, (await response.text()).includes(FILTERED)], [400, true])
    })
  }

/** Failures with and without a reason, as a provider of each format sends them. */
const failures: Readonly<Record<WireFormat, { blanks: readonly string[]; reason: string }>> = {
  'openai-chat': {
    blanks: [
      'data: {"error":{}}\n\n',
      'data: {"error":{"message":"","type":"server_error","code":null,"param":null}}\n\n',
      'event: error\ndata: {}\n\n',
    ],
    reason: `data: ${JSON.stringify({ error: { type: 'invalid_request_error', ...fields } })}\n\n`,
  },
  'openai-responses': { blanks: [failed, ...blanks], reason: reasons['as flat fields'] ?? '' },
  'anthropic-messages': {
    blanks: [
      formatEvent({ type: 'error', error: { type: 'api_error', message: '' } }),
      formatEvent({ type: 'error', error: null }),
      formatEvent({ type: 'error' }),
    ],
    reason: formatEvent({ type: 'error', error: { type: 'invalid_request_error', message: FILTERED } }),
  },
  gemini: {
    blanks: ['data: {"error":{}}\n\n', 'data: {"error":{"code":500,"message":"","status":"INTERNAL"}}\n\n'],
    reason: `data: ${JSON.stringify({ error: { code: 400, message: FILTERED, status: 'INVALID_ARGUMENT' } })}\n\n`,
  },
}
const between: Readonly<Record<string, readonly string[]>> = {
  'openai-chat': [': keep-alive\n\n', 'data: {"id":"c1","choices":[]}\n\n'],
  'openai-responses': [
    formatEvent({ type: 'keepalive', sequence_number: 9 }),
    formatEvent({ type: 'response.in_progress', response: { id: 'resp_1' } }),
  ],
  'anthropic-messages': [formatEvent({ type: 'ping' }), formatEvent({ type: 'ping' })],
  gemini: ['data: {"responseId":"r1"}\n\n'],
}

for (const provider of wireFormats)
  for (const client of wireFormats)
    test(`the gateway reads a failure's reason from a later event (${client} client, ${provider} provider)`, async () => {
      const { blanks, reason } = failures[provider]
      const quiet = between[provider] ?? []
      const start = getEvents(provider, output[provider]('a ', 'b ')).slice(0, provider === 'gemini' ? 1 : 4)
      for (const blank of blanks)
        for (const before of [[], start])
          for (const events of [
            [...before, blank, reason],
            [...before, blank, ...quiet, reason],
            [...before, [blank, ...quiet, reason].join('')],
          ]) {
            const { response, world } = await send({
              client,
              model: `${providerOf[provider]}/m`,
              stream: true,
              respond: () => sse(events),
            })
            const text = await response.text()
            assert.ok(text.includes(FILTERED), `${events.join('')} => ${text}`)
            assert.is(world.recorded.requests[0]?.status, 400, events.join(''))
          }
    })

for (const client of wireFormats)
  test(`the gateway stops waiting for a failure's reason after a few events (${client} client)`, async () => {
    for (const provider of wireFormats) {
      const [blank = ''] = failures[provider].blanks
      const [quiet = ''] = (between[provider] ?? []).slice(-1)
      for (const before of [[], getEvents(provider, output[provider]('a ')).slice(0, 4)]) {
        const events = [...before.filter((event) => !/finish|STOP|DONE/.test(event)), blank, ...Array(50).fill(quiet)]
        const respond = () => hangingAfter(events)
        const { response, world } = await send({ client, model: `${providerOf[provider]}/m`, stream: true, respond })
        assert.match(await response.text(), /error/)
        assert.ok((world.recorded.requests[0]?.status ?? 0) >= 500, provider)
      }
    }
  })

for (const client of wireFormats)
  test(`a failure without a reason causes an error (${client} client)`, async () => {
    for (const before of [[], started])
      for (const after of [[], [formatEvent({ type: 'response.in_progress', response: { id: 'resp_1' } })]]) {
        const respond = () => sse([...before, failed, ...after])
        const { response, world } = await send({ client, model: 'responses/m', stream: true, respond })
        assert.match(await response.text(), /error/)
        assert.is(world.recorded.requests[0]?.status, 502)
      }
  })
