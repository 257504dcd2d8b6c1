import { assert, suite } from '../support/suite.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { catalog, openWorld } from './support/world.ts'

const test = suite('errors in a 200 have the same effect as an error status')

const kept = { baseUrl: 'http://kept.test/v1', format: 'openai-responses', models: [{ id: 'r' }] } as const
const models = { chat: 'one/m', messages: 'claude/c', gemini: 'google/g', responses: 'kept/r' } as const
type Name = keyof typeof models
const names: readonly Name[] = ['chat', 'messages', 'gemini', 'responses']

interface Case {
  status: number
  outcome: string
  openai: { code: string | null; type: string }
  anthropic: string
  google: string
}

const cases: readonly Case[] = [
  {
    status: 503,
    outcome: 'server',
    openai: { code: 'server_is_overloaded', type: 'server_error' },
    anthropic: 'overloaded_error',
    google: 'UNAVAILABLE',
  },
  {
    status: 500,
    outcome: 'server',
    openai: { code: 'server_error', type: 'server_error' },
    anthropic: 'api_error',
    google: 'INTERNAL',
  },
  {
    status: 429,
    outcome: 'rate-limit',
    openai: { code: 'rate_limit_exceeded', type: 'rate_limit_error' },
    anthropic: 'rate_limit_error',
    google: 'RESOURCE_EXHAUSTED',
  },
  {
    status: 400,
    outcome: 'client',
    openai: { code: null, type: 'invalid_request_error' },
    anthropic: 'invalid_request_error',
    google: 'INVALID_ARGUMENT',
  },
  {
    status: 401,
    outcome: 'credentials',
    openai: { code: 'invalid_api_key', type: 'invalid_request_error' },
    anthropic: 'authentication_error',
    google: 'UNAUTHENTICATED',
  },
]

const MESSAGE = 'Please try again in 20s.'

/** Anthropic has a separate status for overload. */
const getStatus = (name: Name, { status }: Case) => (name === 'messages' && status === 503 ? 529 : status)

function getError(name: Name, { status, openai, anthropic, google }: Case): object {
  if (name === 'messages') return { type: anthropic, message: MESSAGE }
  if (name === 'gemini') return { code: status, message: MESSAGE, status: google }
  return { message: MESSAGE, param: null, ...openai }
}

const getEnvelope = (name: Name, error: object) => (name === 'messages' ? { type: 'error', error } : { error })

const event = (fields: { type: string; [name: string]: unknown }) =>
  `event: ${fields.type}\ndata: ${JSON.stringify(fields)}\n\n`

function getStream(name: Name, error: object): string {
  if (name === 'messages') return event({ type: 'error', error })
  if (name === 'responses') return event({ type: 'response.failed', response: { status: 'failed', error, output: [] } })
  return `data: ${JSON.stringify({ error })}\n\n`
}

const createBody = (name: Name, error: object) =>
  name === 'responses' ? { object: 'response', status: 'failed', error, output: [] } : getEnvelope(name, error)

interface Sent {
  respond: () => Response
  stream: boolean
}

/** Opens a provider, and a function that returns its response as clients of one format see it. */
async function open(provider: Name) {
  let respond = () => json({})
  const upstream = fakeUpstream(() => respond())
  const world = await openWorld({
    fetch: upstream,
    catalog: { ...catalog, kept },
    connections: ['one', 'claude', 'google', 'kept'],
  })
  const model = models[provider]
  const messages = [{ role: 'user', content: 'Hi' }]
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const requests: Record<Name, (stream: boolean) => Promise<Response>> = {
    chat: (stream) => world.chat({ model, stream, messages }),
    messages: (stream) => world.messages({ model, stream, messages }),
    gemini: (stream) =>
      world.post(`/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, {
        contents,
      }),
    responses: (stream) => world.post('/v1/responses', { model, stream, input: 'Hi' }),
  }
  return async (client: Name, { respond: createResponse, stream }: Sent) => {
    respond = createResponse
    await world.api.health.reset()
    const response = await requests[client](stream)
    const attempt = world.recorded.attempts.at(-1)
    const { health } = await world.api.health.list()
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      attempts: response.headers.get('x-signalbox-attempts'),
      outcome: attempt?.outcome,
      recorded: attempt?.status,
      health: health.map(({ level, state, reason, message }) => [level, state, reason, message]),
      body: await response.json(),
    }
  }
}

for (const provider of names)
  for (const kind of cases)
    test(`an error in a 200 from ${provider} has the same effect as status ${kind.status} (${kind.openai.type})`, async () => {
      const error = getError(provider, kind)
      const status = getStatus(provider, kind)
      const send = await open(provider)
      for (const client of names) {
        const expected = await send(client, {
          respond: () => json(getEnvelope(provider, error), status),
          stream: false,
        })
        assert.is(expected.outcome, kind.outcome)
        assert.is(expected.retryAfter, kind.status === 429 ? '20' : null)
        for (const [stream, respond] of [
          [false, () => json(createBody(provider, error))],
          [true, () => json(createBody(provider, error))],
          [true, () => sse(getStream(provider, error))],
        ] as const)
          assert.equal(await send(client, { respond, stream }), expected, `${client}, ${stream}`)
      }
    })

test('an envelope is added to a Responses error event without one', async () => {
  const flat = event({
    type: 'error',
    code: 'rate_limit_exceeded',
    message: 'Slow down',
    param: null,
    sequence_number: 2,
  })
  const { status, outcome, body } = await (await open('responses'))('responses', {
    respond: () => sse(flat),
    stream: true,
  })
  assert.equal([status, outcome], [429, 'rate-limit'])
  assert.equal(body, {
    error: { message: 'Slow down', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' },
  })
})

test("an error that is only a string is reported in the client's envelope", async () => {
  const { status, body } = await (await open('chat'))('chat', {
    respond: () => sse('data: {"error":"Overloaded"}\n\n'),
    stream: true,
  })
  assert.is(status, 502)
  assert.is(body.error.message, 'Overloaded')
})
