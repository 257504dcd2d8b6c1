import Anthropic from '@anthropic-ai/sdk'
import { ApiError } from '@google/genai'
import { APICallError } from 'ai'
import OpenAI from 'openai'
import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { clients } from './support/sdk/clients/clients.ts'
import { MODEL, openBefore, outputBy } from './support/sdk/gateway.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'

const test = suite('errors that the SDKs receive')

interface Recorded {
  status: number
  openai: { type: string; code: string | null }
  anthropic: string
  google: string
}

/** Errors as worded by the vendors. Anthropic has a separate status for overload. */
const errors: Readonly<Record<string, Recorded>> = {
  'a rate limit': {
    status: 429,
    openai: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
    anthropic: 'rate_limit_error',
    google: 'RESOURCE_EXHAUSTED',
  },
  'an invalid request': {
    status: 400,
    openai: { type: 'invalid_request_error', code: null },
    anthropic: 'invalid_request_error',
    google: 'INVALID_ARGUMENT',
  },
  'a server error': {
    status: 500,
    openai: { type: 'server_error', code: null },
    anthropic: 'api_error',
    google: 'INTERNAL',
  },
}

const MESSAGE = 'That did not go well.'

function getBody(format: WireFormat, { status, openai, anthropic, google }: Recorded): object {
  if (format === 'anthropic-messages') return { type: 'error', error: { type: anthropic, message: MESSAGE } }
  if (format === 'gemini') return { error: { code: status, message: MESSAGE, status: google } }
  return { error: { message: MESSAGE, param: null, ...openai } }
}

/** Each provider's mid-stream error. Clients only recognize Anthropic's. */
const failing: Readonly<Record<WireFormat, string>> = {
  'openai-chat': `data: {"choices":[{"index":0,"delta":{},"error":{"message":"${MESSAGE}"},"finish_reason":"error"}]}\n\n`,
  'openai-responses': `event: error\ndata: {"type":"error","code":"server_error","message":"${MESSAGE}"}\n\n`,
  'anthropic-messages': `event: error\ndata: {"type":"error","error":{"type":"api_error","message":"${MESSAGE}"}}\n\n`,
  gemini: `data: {"error":{"message":"${MESSAGE}"}}\n\n`,
}

/** Returns the status of an error if it has the client's own class for that status. */
function getStatus(error: unknown): number | undefined {
  if (error instanceof ApiError) return error.status
  if (APICallError.isInstance(error)) return error.statusCode
  if (error instanceof Error && error.name.startsWith('Gateway')) return gatewayStatuses[error.name]
  for (const vendor of [OpenAI, Anthropic]) {
    if (error instanceof vendor.RateLimitError) return 429
    if (error instanceof vendor.BadRequestError) return 400
    if (error instanceof vendor.AuthenticationError) return 401
    if (error instanceof vendor.NotFoundError) return 404
    if (error instanceof vendor.InternalServerError) return error.status
  }
  return undefined
}

/** The error classes of the AI SDK's gateway, by error name. */
const gatewayStatuses: Readonly<Record<string, number>> = {
  GatewayRateLimitError: 429,
  GatewayInvalidRequestError: 400,
  GatewayAuthenticationError: 401,
  GatewayModelNotFoundError: 404,
  GatewayInternalServerError: 500,
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => assert.unreachable(`it answers ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )

for (const [name, { create }] of Object.entries(clients)) {
  for (const format of wireFormats) {
    test(`the SDK throws the right error class for each provider error (${name}, ${format} provider)`, async () => {
      for (const [label, recorded] of Object.entries(errors)) {
        for (const stream of [false, true]) {
          const { fetch } = await openBefore(
            format,
            fakeUpstream(() => json(getBody(format, recorded), recorded.status)),
          )
          const error = await failure(create(fetch).send(MODEL, { stream }))
          assert.is(getStatus(error), recorded.status, `${label}: ${error}`)
          assert.match(String(error), MESSAGE)
        }
      }
    })

    test(`a stream that is cut off never ends normally in the SDK (${name}, ${format} provider)`, async () => {
      const { events } = outputBy(format).response
      const started = events.slice(0, events.findIndex((event) => event.includes('Paris')) + 1)
      const { fetch } = await openBefore(
        format,
        fakeUpstream(() => sse(started)),
      )
      let received = ''
      const onText = (piece: string) => {
        received += piece
      }
      await failure(create(fetch).send(MODEL, { stream: true, onText }))
      assert.is(received, 'It is 21 °C in Paris')
    })

    test(`a stream that fails and then ends normally causes an error in the SDK (${name}, ${format} provider)`, async () => {
      const { events } = outputBy(format).response
      const started = events.slice(0, events.findIndex((event) => event.includes('Paris')) + 1)
      const { fetch } = await openBefore(
        format,
        fakeUpstream(() => sse([...started, failing[format], ...events.slice(-1)])),
      )
      const error = await failure(create(fetch).send(MODEL, { stream: true }))
      assert.match(String(error), MESSAGE)
    })
  }

  test(`the SDK throws the right error class for a wrong key and an unknown model (${name})`, async () => {
    const { world, fetch } = await openBefore(
      'openai-chat',
      fakeUpstream(() => json({}, 500)),
    )
    const { send } = create(fetch)
    assert.is(getStatus(await failure(send('unknown', { stream: false }))), 404)
    await world.api.settings.update({ requireApiKey: true })
    assert.is(getStatus(await failure(send(MODEL, { stream: false }))), 401)
  })
}
