import * as ai7 from 'ai'
import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import { answerAt } from '../../kinds/samples.ts'
import { chatResponse } from '../../pipeline/support/responses.ts'
import { ai6 } from '../../pipeline/support/sdk/clients/ai.ts'
import { ANSWER, QUESTION, SIGNATURE, weather } from '../../pipeline/support/sdk/conversation.ts'
import { MODEL, openBefore, openToolLoop, outputBy } from '../../pipeline/support/sdk/gateway.ts'
import { fakeUpstream, json, sse } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

/** Both generations of the AI SDK, with the protocol version that each uses. */
const generations = [
  { name: 'AI SDK 7', ai: ai7, version: 4 },
  { name: 'AI SDK 6', ai: ai6, version: 3 },
] as const

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

for (const { name, ai, version } of generations) {
  const test = suite(`${name} over its gateway protocol`)
  const createProvider = (fetch: typeof globalThis.fetch) =>
    ai.createGateway({ apiKey: 'x', baseURL: `http://gateway/v${version}/ai`, fetch })
  const once = { maxRetries: 0 } as const

  for (const format of wireFormats) {
    test(`images given as bytes, base64, or a data URL reach the provider (${format})`, async () => {
      const upstream = fakeUpstream(() => json(outputBy(format).response.whole))
      const { fetch } = await openBefore(format, upstream)
      const bytes = Uint8Array.from(atob(PNG), (letter) => letter.charCodeAt(0))
      for (const data of [bytes, PNG, new URL(`data:image/png;base64,${PNG}`)]) {
        await ai.generateText({
          ...once,
          model: createProvider(fetch)(MODEL),
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: QUESTION },
                { type: 'file', mediaType: 'image/png', data },
              ],
            },
          ],
        })
        assert.ok(upstream.calls.at(-1)?.body.includes(PNG), String(data))
      }
    })

    test(`the model receives the reason for a denied tool call (${format} model)`, async () => {
      const { fetch, requests: requested } = await openToolLoop(format, 'ai-sdk')
      const tools = {
        [weather.name]: ai.tool({
          description: weather.description,
          inputSchema: ai.jsonSchema<{ city: string }>(weather.schema),
          execute: async () => 'nobody runs it',
          needsApproval: true,
        }),
      }
      const model = createProvider(fetch)(MODEL)
      const messages: ai7.ModelMessage[] = [{ role: 'user', content: QUESTION }]
      const first = await ai.generateText({ ...once, model, messages, tools })
      const requests = first.content.filter((part) => part.type === 'tool-approval-request')
      assert.is(requests.length, 2)
      messages.push(...first.response.messages, {
        role: 'tool',
        content: requests.map(({ approvalId }) => ({
          type: 'tool-approval-response' as const,
          approvalId,
          approved: false,
          reason: 'It is too cold there.',
        })),
      })
      const { text } = await ai.generateText({ ...once, model, messages, tools })
      assert.is(text, ANSWER.join(''))
      assert.match(JSON.stringify(requested.at(-1)), 'It is too cold there.')
      if (format !== 'openai-chat') assert.match(JSON.stringify(requested.at(-1)), SIGNATURE)
    })

    test(`provider events arrive as raw chunks on request (${format})`, async () => {
      const { fetch } = await openBefore(
        format,
        fakeUpstream(() => sse(outputBy(format).response.events)),
      )
      for (const includeRawChunks of [false, true]) {
        const { fullStream } = ai.streamText({
          ...once,
          model: createProvider(fetch)(MODEL),
          prompt: QUESTION,
          includeRawChunks,
        })
        const raw: unknown[] = []
        for await (const part of fullStream) if (part.type === 'raw') raw.push(part.rawValue)
        assert.is(raw.length > 0, includeRawChunks)
        if (includeRawChunks) assert.match(JSON.stringify(raw), ANSWER[0])
      }
    })
  }

  test('response metadata contains the target, the attempts, the cost, and unsupported options', async () => {
    const upstream = fakeUpstream(({ provider }) =>
      provider === 'one' ? json({}, 500) : json(outputBy('anthropic-messages').response.whole),
    )
    const { gateway } = await openWorld({
      fetch: upstream,
      connections: ['one', 'claude'],
      combos: { fast: ['one/m', 'claude/c'] },
    })
    const model = ai.createGateway({ apiKey: 'x', baseURL: `http://gateway/v${version}/ai`, fetch: gateway.fetch })(
      'fast',
    )
    const { text, warnings, providerMetadata } = await ai.generateText({ ...once, model, prompt: QUESTION, seed: 7 })
    assert.is(text, ANSWER.join(''))
    assert.equal(
      warnings?.map((warning) => 'feature' in warning && warning.feature),
      ['seed'],
    )
    const { target, attempts, warnings: losses } = Object(providerMetadata?.signalbox)
    assert.equal([target, losses], ['claude/c', ['dropped:seed']])
    assert.equal(
      attempts.map((attempt: JsonObject) => [attempt.target, attempt.status]),
      [
        ['one/m', 500],
        ['claude/c', 200],
      ],
    )
  })

  test('cached tokens are counted separately, streamed or not', async () => {
    const { whole, events } = outputBy('anthropic-messages').response
    const cached = (text: string) => text.replace('"cache_read_input_tokens":0', '"cache_read_input_tokens":30')
    for (const stream of [false, true]) {
      const { fetch } = await openBefore(
        'anthropic-messages',
        fakeUpstream(() => (stream ? sse(events.map(cached)) : json(JSON.parse(cached(JSON.stringify(whole)))))),
      )
      const callOptions = { ...once, model: createProvider(fetch)(MODEL), prompt: QUESTION }
      const usage = stream ? await ai.streamText(callOptions).usage : (await ai.generateText(callOptions)).usage
      assert.equal(
        [usage.inputTokens, usage.inputTokenDetails.cacheReadTokens, usage.inputTokenDetails.noCacheTokens],
        [80, 30, 50],
      )
    }
  })

  test("an unknown model and an invalid key throw the AI SDK's own error types", async () => {
    const { world, fetch } = await openBefore(
      'openai-chat',
      fakeUpstream(() => json({}, 500)),
    )
    const send = (model: string) =>
      ai
        .generateText({ ...once, model: createProvider(fetch)(model), prompt: QUESTION })
        .catch((error: unknown) => error)
    assert.equal(pick(await send('nobody/knows')), {
      name: 'GatewayModelNotFoundError',
      statusCode: 404,
      modelId: 'nobody/knows',
    })
    await world.api.settings.update({ requireApiKey: true })
    assert.is(pick(await send(MODEL)).name, 'GatewayAuthenticationError')
  })

  test("the model list contains model types and the client's protocol version", async () => {
    const { gateway, api } = await openWorld({
      connections: ['one'],
      combos: { fast: ['one/m'] },
      fetch: fakeUpstream(() => json({ data: [] })),
    })
    const client = ai.createGateway({ apiKey: 'x', baseURL: `http://gateway/v${version}/ai`, fetch: gateway.fetch })
    const { models } = await client.getAvailableModels()
    const [first] = models
    assert.equal(first, {
      id: 'fast',
      name: 'fast',
      specification: { specificationVersion: `v${version}`, provider: 'signalbox', modelId: 'fast' },
      modelType: 'language',
    })
    await api.settings.update({ requireApiKey: true })
    assert.is((await gateway.fetch(`http://gateway/v${version}/ai/config`)).status, 401)
  })

  test('warnings list provider options without an equivalent', async () => {
    const { fetch } = await openBefore(
      'openai-chat',
      fakeUpstream(() => json(chatResponse())),
    )
    const providerOptions = {
      gateway: { caching: 'auto' },
      xai: { searchParameters: {} },
      openai: { user: 'me' },
    }
    const { warnings } = await ai.generateText({
      ...once,
      model: createProvider(fetch)(MODEL),
      prompt: QUESTION,
      providerOptions,
    })
    assert.equal(
      warnings?.map((warning) => 'feature' in warning && warning.feature),
      ['providerOptions.gateway.caching', 'providerOptions.xai'],
    )
  })

  test('the gateway protocol supports embedding and reranking', async () => {
    const upstream = fakeUpstream(({ url }) => answerAt(url.pathname) ?? json(chatResponse()))
    const { gateway } = await openWorld({ fetch: upstream, connections: ['one'] })
    const client = ai.createGateway({ apiKey: 'x', baseURL: `http://gateway/v${version}/ai`, fetch: gateway.fetch })
    const { embedding, usage, warnings } = await ai.embed({
      ...once,
      model: client.textEmbeddingModel('one/e'),
      value: 'Hi',
      providerOptions: { google: { content: [], outputDimensionality: 3 }, gateway: { order: ['x'] } },
    })
    assert.equal([embedding, usage.tokens], [[0.25, -0.5, 1], 1])
    assert.equal(
      warnings.map((warning) => 'feature' in warning && warning.feature),
      ['providerOptions.google.content'],
    )
    const { ranking } = await ai.rerank({
      ...once,
      model: client.rerankingModel('one/r'),
      query: 'red fruit',
      documents: ['a tree', 'a red fruit'],
      topN: 1,
    })
    assert.equal(ranking, [{ originalIndex: 1, score: 0.9, document: 'a red fruit' }])
  })
}

const pick = (error: unknown) => {
  const { name, statusCode, modelId } = Object(error)
  return { name, statusCode, modelId }
}
