import type { JSONObject } from '@ai-sdk/provider'
import * as ai7 from 'ai'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { ai6 } from '../pipeline/support/sdk/clients/ai.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const clients: ReadonlyArray<[name: string, ai: typeof ai7, path: string]> = [
  ['AI SDK 7', ai7, 'v4'],
  ['AI SDK 6', ai6, 'v3'],
]

for (const [name, ai, path] of clients) {
  const test = suite(`providerOptions.gateway with createGateway from ${name}`)

  async function open() {
    const upstream = fakeUpstream(({ body }) =>
      body.includes('"stream":true') ? sse(chatEvents()) : json(chatResponse()),
    )
    const { gateway, api } = await openWorld({
      fetch: upstream,
      usage: true,
      connections: ['one', { provider: 'two', tags: { zdr: true, training: false } }, 'three'],
      combos: { fast: ['one/m', 'two/m', 'three/m'] },
    })
    const models = ai.createGateway({ baseURL: `http://gateway/${path}/ai`, apiKey: 'x', fetch: gateway.fetch })
    const send = (options: JSONObject, model = 'fast') =>
      ai.generateText({
        model: models(model),
        prompt: 'Hi',
        maxRetries: 0,
        providerOptions: { gateway: options },
      })
    const fail = async (options: JSONObject, model?: string) => {
      const error = await send(options, model).catch((error: unknown) => error)
      return { status: Object(error).statusCode as number, message: String(error) }
    }
    return { upstream, send, fail, models, api }
  }

  test('applied gateway options cause no warnings', async () => {
    const { send, upstream, api } = await open()
    const { warnings } = await send({
      ...{
        order: ['three', 'two'],
        only: ['two', 'three'],
        sort: 'cost',
        models: ['one/m'],
        tags: ['beta'],
        user: 'u',
      },
      ...{ zeroDataRetention: true, disallowPromptTraining: true, serviceTier: 'flex' },
    })
    assert.equal([warnings, upstream.providers], [[], ['two']])
    const { requests } = await api.usage.requests({})
    assert.equal([requests[0]?.tags, requests[0]?.user], [['beta'], 'u'])
  })

  test('ignored gateway options cause warnings', async () => {
    const { send } = await open()
    const { warnings } = await send({
      ...{ sort: 'tps', caching: 'auto', idempotencyKey: 'k', invented: 1 },
      providerTimeouts: { byok: { openai: 5_000 } },
    })
    assert.equal(
      warnings?.map((warning) => 'feature' in warning && warning.feature).sort(),
      ['caching', 'idempotencyKey', 'invented', 'providerTimeouts', 'sort'].map(
        (value) => `providerOptions.gateway.${value}`,
      ),
    )
  })

  test('unsupported gateway options fail without a provider call', async () => {
    const { fail, upstream } = await open()
    for (const [options, status, message, model] of [
      [{ byok: { openai: [{ apiKey: 'sk-1' }] } }, 400, 'providerOptions.gateway.byok'],
      [{ only: ['nowhere'] }, 400, 'providerOptions.gateway.only[0]'],
      [{ has: ['vision'] }, 400, 'providerOptions.gateway.has'],
      [{ has: ['tool-use'] }, 400, 'providerOptions.gateway.has[0]'],
      [{ quotaEntityId: 'bob' }, 403, 'names another account'],
      [{ zeroDataRetention: true }, 403, '"providerOptions.gateway.zeroDataRetention" requires "zdr"', 'one/m'],
      [{ disallowPromptTraining: true }, 403, 'requires "training=false"', 'three/m'],
    ] as ReadonlyArray<[JSONObject, number, string, string?]>) {
      const failed = await fail(options, model)
      assert.is(failed.status, status, failed.message)
      assert.ok(failed.message.includes(message), failed.message)
    }
    assert.is(upstream.calls.length, 0)
  })

  test('a stream follows the zero data retention policy', async () => {
    const { models, upstream } = await open()
    const options = { prompt: 'Hi', maxRetries: 0, providerOptions: { gateway: { zeroDataRetention: true } } }
    assert.is(await ai.streamText({ ...options, model: models('fast') }).text, 'Hello there, world')
    assert.equal(upstream.providers, ['two'])
  })
}
