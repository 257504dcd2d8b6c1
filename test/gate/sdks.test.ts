import Anthropic from '@anthropic-ai/sdk'
import { ApiError, GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import type { UsageLimits } from '../../src/types/limits.ts'
import { assert, suite } from '../support/suite.ts'
import { metered } from './support/metered-providers.ts'
import { type GateOptions, messages, openGate } from './support/world.ts'

const test = suite('rejected requests in the official SDKs')

/** Opens the official SDK clients with their default retries, against a gateway that counts their requests. */
async function openClients(options: GateOptions) {
  const world = await openGate(options)
  const { key: apiKey } = world
  let requestCount = 0
  const fetch = (input: string | URL | Request, init?: RequestInit) => {
    requestCount++
    return world.gateway.fetch(new Request(input, init))
  }
  const openai = new OpenAI({ baseURL: 'http://gateway/v1', apiKey, fetch })
  const anthropic = new Anthropic({ baseURL: 'http://gateway', apiKey, fetch })
  const google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: 'http://gateway', fetch } })
  const calls: Record<string, (stream: boolean) => Promise<unknown>> = {
    chat: (stream) =>
      openai.chat.completions.create({ model: 'one/m', messages: [{ role: 'user', content: 'Hi' }], stream }),
    responses: (stream) => openai.responses.create({ model: 'open/r', input: 'Hi', stream }),
    messages: (stream) =>
      anthropic.messages.create({
        model: 'claude/c',
        max_tokens: 500,
        messages: [{ role: 'user', content: 'Hi' }],
        stream,
      }),
    gemini: (stream) => {
      const request = { model: 'google/g', contents: 'Hi' }
      return stream ? google.models.generateContentStream(request) : google.models.generateContent(request)
    },
  }
  return { ...world, calls, asked: () => requestCount }
}

const getFailure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => assert.unreachable(`it answers ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )

interface Expected {
  status: number
  code: string
  /** The error class of the OpenAI and Anthropic clients, and its name in the Google client. */
  name: 'APIError' | 'AuthenticationError' | 'PermissionDeniedError' | 'RateLimitError'
  google: string
  anthropic: string
}

function check(error: unknown, { status, code, name, google, anthropic }: Expected): void {
  if (error instanceof ApiError) {
    assert.is(error.status, status)
    const body = JSON.parse(error.message)
    assert.equal([body.error.status, body.error.details[0].reason], [google, code])
    return
  }
  if (error instanceof OpenAI.APIError) {
    assert.ok(error instanceof OpenAI[name], `${error.constructor.name}`)
    assert.equal([error.status, error.code], [status, code])
    return
  }
  assert.ok(error instanceof Anthropic[name], `${error}`)
  assert.is(error.status, status)
  const { error: inner } = error.error as { error: { type: string; code: string } } // the request body as sent
  assert.equal([inner.type, inner.code], [anthropic, code])
}

const budget = {
  status: 402,
  name: 'APIError',
  google: 'FAILED_PRECONDITION',
  anthropic: 'billing_error',
} as const

const limits: Record<string, [limits: UsageLimits, Expected]> = {
  'an exhausted budget': [{ tokens: { total: 5_000 } }, { ...budget, code: 'budget_exceeded' }],
  'a request that is too expensive': [{ usd: { day: 0.0001 } }, { ...budget, code: 'request_too_expensive' }],
  'a daily request limit': [
    { requests: { day: 1 } },
    {
      status: 429,
      code: 'rate_limit_exceeded',
      name: 'RateLimitError',
      google: 'RESOURCE_EXHAUSTED',
      anthropic: 'rate_limit_error',
    },
  ],
  'a total request limit': [
    { requests: { total: 1 } },
    {
      status: 429,
      code: 'rate_limit_exceeded',
      name: 'RateLimitError',
      google: 'RESOURCE_EXHAUSTED',
      anthropic: 'rate_limit_error',
    },
  ],
}

for (const [title, [held, expected]] of Object.entries(limits))
  for (const client of ['chat', 'responses', 'messages', 'gemini'])
    for (const stream of [false, true])
      test(`the ${client} client throws the right error class for ${title}, and doesn't retry${stream ? ' the stream' : ''}`, async () => {
        const { chat, calls, asked, upstream } = await openClients({
          limits: held,
          respond: metered({ output: 9_000 }, { tokens: 0 }),
        })
        await chat({ max_tokens: 9 })
        const called = upstream.calls.length
        check(await getFailure(calls[client]?.(stream) ?? Promise.resolve()), expected)
        assert.equal([asked(), upstream.calls.length], [1, called])
      })

for (const client of ['chat', 'responses', 'messages', 'gemini'])
  test(`the ${client} client throws the right error classes for a forbidden model and an expired key`, async () => {
    const { calls, gateway, keyId, clock, asked } = await openClients({ models: ['two/*'] })
    const permission = {
      name: 'PermissionDeniedError',
      google: 'PERMISSION_DENIED',
      anthropic: 'permission_error',
    } as const
    check(await getFailure(calls[client]?.(false) ?? Promise.resolve()), {
      ...permission,
      status: 403,
      code: 'model_not_allowed',
    })
    await gateway.api.keys.update(keyId, { expiresAt: new Date(clock.now() + 60_000).toISOString() })
    await clock.advance(61_000)
    const authentication = {
      name: 'AuthenticationError',
      google: 'UNAUTHENTICATED',
      anthropic: 'authentication_error',
    } as const
    check(await getFailure(calls[client]?.(false) ?? Promise.resolve()), {
      ...authentication,
      status: 401,
      code: 'key_expired',
    })
    assert.is(asked(), 2)
  })

test('a minute limit tells clients to retry, and how long to wait', async () => {
  const { post } = await openGate({ limits: { requests: { minute: 1 } } })
  const send = () => post('/v1/messages', { model: 'claude/c', max_tokens: 9, messages })
  assert.is((await send()).status, 200)
  const rejected = await send()
  const { status, headers } = rejected
  assert.equal([status, headers.get('retry-after'), headers.get('x-should-retry')], [429, '60', null])
  const gemini = await post('/v1beta/models/google/g:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] })
  assert.equal((await gemini.json()).error.details[1], {
    '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay: '60s',
  })
})
