import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json, sse } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { providerOf, send } from './support.ts'

const test = suite('cases: error codes for clients of each format')

const openai = (type: string, code: string | null, message = 'no') => ({ error: { message, type, param: null, code } })
const anthropic = (type: string, message = 'no') => ({ type: 'error', error: { type, message } })
const google = (code: number, status: string, message = 'no') => ({ error: { code, status, message } })

type Recorded = [status: number, word: unknown, code?: unknown]

/** A real error from each vendor, and each client's result: the status, the type or name, and OpenAI's code. */
interface Case {
  status: number
  sent: { openai: JsonObject; anthropic: JsonObject; google: JsonObject }
  recorded: { openai: Recorded; anthropic: Recorded; google: Recorded }
}

const cases: Readonly<Record<string, Case>> = {
  'a model that does not exist': {
    status: 404,
    sent: {
      openai: openai('invalid_request_error', 'model_not_found', 'The model `x` does not exist'),
      anthropic: anthropic('not_found_error', 'model: x'),
      google: google(404, 'NOT_FOUND', 'models/x is not found'),
    },
    recorded: {
      openai: [404, 'invalid_request_error', 'model_not_found'],
      anthropic: [404, 'not_found_error'],
      google: [404, 'NOT_FOUND'],
    },
  },
  'a prompt that is too long': {
    status: 400,
    sent: {
      openai: openai('invalid_request_error', 'context_length_exceeded', 'maximum context length is 10 tokens'),
      anthropic: anthropic('invalid_request_error', 'prompt is too long: 20 tokens > 10 maximum'),
      google: google(
        400,
        'INVALID_ARGUMENT',
        'The input token count (20) exceeds the maximum number of tokens allowed (10).',
      ),
    },
    recorded: {
      openai: [400, 'invalid_request_error', 'context_length_exceeded'],
      anthropic: [400, 'invalid_request_error'],
      google: [400, 'INVALID_ARGUMENT'],
    },
  },
  'a bad request': {
    status: 400,
    sent: {
      openai: openai('invalid_request_error', null),
      anthropic: anthropic('invalid_request_error'),
      google: google(400, 'INVALID_ARGUMENT'),
    },
    recorded: {
      openai: [400, 'invalid_request_error', null],
      anthropic: [400, 'invalid_request_error'],
      google: [400, 'INVALID_ARGUMENT'],
    },
  },
  'a request that is too large': {
    status: 413,
    sent: {
      openai: openai('invalid_request_error', null),
      anthropic: anthropic('request_too_large'),
      google: google(413, 'INVALID_ARGUMENT'),
    },
    recorded: {
      openai: [413, 'invalid_request_error', null],
      anthropic: [413, 'request_too_large'],
      google: [413, 'INVALID_ARGUMENT'],
    },
  },
  'a rate limit': {
    status: 429,
    sent: {
      openai: openai('requests', 'rate_limit_exceeded'),
      anthropic: anthropic('rate_limit_error'),
      google: google(429, 'RESOURCE_EXHAUSTED'),
    },
    recorded: {
      openai: [429, 'rate_limit_error', 'rate_limit_exceeded'],
      anthropic: [429, 'rate_limit_error'],
      google: [429, 'RESOURCE_EXHAUSTED'],
    },
  },
  'an invalid key': {
    status: 401,
    sent: {
      openai: openai('invalid_request_error', 'invalid_api_key'),
      anthropic: anthropic('authentication_error'),
      google: google(401, 'UNAUTHENTICATED'),
    },
    recorded: {
      openai: [502, 'server_error', 'upstream_failed'],
      anthropic: [502, 'api_error'],
      google: [502, 'UNAVAILABLE'],
    },
  },
  'a server error': {
    status: 500,
    sent: {
      openai: openai('server_error', null),
      anthropic: anthropic('api_error'),
      google: google(500, 'INTERNAL'),
    },
    recorded: { openai: [500, 'server_error', null], anthropic: [500, 'api_error'], google: [500, 'INTERNAL'] },
  },
  'an overload': {
    status: 503,
    sent: {
      openai: openai('server_error', null),
      anthropic: anthropic('overloaded_error'),
      google: google(503, 'UNAVAILABLE'),
    },
    recorded: {
      openai: [503, 'server_error', null],
      anthropic: [529, 'overloaded_error'],
      google: [503, 'UNAVAILABLE'],
    },
  },
  'a timeout': {
    status: 504,
    sent: {
      openai: openai('server_error', null),
      anthropic: anthropic('timeout_error'),
      google: google(504, 'DEADLINE_EXCEEDED'),
    },
    recorded: {
      openai: [504, 'server_error', null],
      anthropic: [504, 'timeout_error'],
      google: [504, 'DEADLINE_EXCEEDED'],
    },
  },
}

const getVendor = (format: WireFormat) =>
  format === 'gemini' ? 'google' : format === 'anthropic-messages' ? 'anthropic' : 'openai'

function readErrorFields(client: WireFormat, status: number, body: { error: JsonObject }): Recorded {
  const { type, code, status: name } = body.error
  if (client === 'gemini') return [status, name]
  return client === 'anthropic-messages' ? [status, type] : [status, type, code]
}

for (const [label, { status, sent, recorded }] of Object.entries(cases))
  for (const client of wireFormats)
    test(`${label} returns the code that ${client} clients expect`, async () => {
      for (const from of wireFormats.filter((format) => format !== client)) {
        const respond = () => json(sent[getVendor(from)], status)
        const { response } = await send({ client, model: `${providerOf[from]}/m`, respond })
        assert.equal(readErrorFields(client, response.status, await response.json()), recorded[getVendor(client)], from)
      }
    })

/** An error as the first event of a stream, with a status only inside the event. */
const first: Readonly<Record<WireFormat, (what: string) => string>> = {
  'openai-chat': (label) => `data: ${JSON.stringify(cases[label]?.sent.openai)}\n\n`,
  'openai-responses': (label) =>
    `event: error\ndata: ${JSON.stringify({ type: 'error', ...cases[label]?.sent.openai })}\n\n`,
  'anthropic-messages': (label) => `event: error\ndata: ${JSON.stringify(cases[label]?.sent.anthropic)}\n\n`,
  gemini: (label) => `data: ${JSON.stringify(cases[label]?.sent.google)}\n\n`,
}

for (const label of ['a model that does not exist', 'a prompt that is too long', 'a rate limit'])
  for (const client of wireFormats)
    test(`${label} in a stream's first event returns the code that ${client} clients expect`, async () => {
      for (const from of wireFormats.filter((format) => getVendor(format) !== getVendor(client))) {
        const respond = () => sse([first[from](label)])
        const { response } = await send({ client, model: `${providerOf[from]}/m`, stream: true, respond })
        const expected = cases[label]?.recorded[getVendor(client)]
        assert.equal(readErrorFields(client, response.status, await response.json()), expected, from)
      }
    })
