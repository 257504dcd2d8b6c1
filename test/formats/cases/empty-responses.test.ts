import { isObject, type JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { clients, wholeClients } from '../support/clients.ts'
import { recordedExchanges } from '../support/recordings.ts'
import { output } from './responses.ts'
import { getEvents, getStream, providerOf, send } from './support.ts'

const test = suite('cases: empty responses')

/** Empty non-streaming responses with 7 input and 5 output tokens. */
const empty: Readonly<Record<WireFormat, JsonObject>> = {
  'openai-chat': {
    ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message: { role: 'assistant', content: null }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
  },
  'openai-responses': {
    ...{ id: 'r1', object: 'response', created_at: 1, model: 'm', status: 'completed', error: null, output: [] },
    usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
  },
  'anthropic-messages': {
    ...{ id: 'm1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: 'end_turn' },
    usage: { input_tokens: 7, output_tokens: 5 },
  },
  gemini: {
    candidates: [{ index: 0, content: { role: 'model' }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 },
  },
}

/** Request fields for token counts, which Chat Completions streams report only if requested. */
const counted: Readonly<Record<WireFormat, JsonObject>> = {
  'openai-chat': { stream_options: { include_usage: true } },
  'openai-responses': {},
  'anthropic-messages': {},
  gemini: {},
}

const nothing = { text: '', reasoning: '', calls: [], finish: 'stop', inputTokens: 7, outputTokens: 5 }

for (const provider of wireFormats)
  for (const client of wireFormats) {
    const model = `${providerOf[provider]}/m`
    const request = { client, model }

    test(`an empty response reaches the client (${provider} provider, ${client} client)`, async () => {
      const body = JSON.stringify(empty[provider])
      const { response, world } = await send({ ...request, respond: () => json(body) })
      assert.equal([response.status, response.headers.get('x-signalbox-target')], [200, model])
      if (client === provider) assert.is(await response.clone().text(), body)
      assert.equal(await wholeClients[client](response), nothing)
      assert.equal([world.recorded.usages[0]?.inputTokens, world.recorded.usages[0]?.outputTokens], [7, 5])
    })

    test(`an empty response reaches a streaming client with a normal end (${provider} provider, ${client} client)`, async () => {
      const events = output[provider]()
      const respond = () => getStream(provider, events)
      const { response, world, upstream } = await send({ ...request, stream: true, body: counted[client], respond })
      assert.equal([response.status, response.headers.get('x-signalbox-target')], [200, model])
      if (client === provider) assert.is(await response.clone().text(), getEvents(provider, events).join(''))
      assert.equal(await clients[client](response), nothing)
      assert.equal([world.recorded.usages[0]?.inputTokens, world.recorded.usages[0]?.outputTokens], [7, 5])
      assert.is(upstream.open, 0)
    })

    test(`a non-streaming empty response reaches a streaming client (${provider} provider, ${client} client)`, async () => {
      const respond = () => json(empty[provider])
      const { response } = await send({ ...request, stream: true, body: counted[client], respond })
      assert.is(response.status, 200)
      assert.equal(await clients[client](response), nothing)
    })
  }

/** Recordings of empty responses. */
const recorded: Partial<Record<WireFormat, { folder: string; url: RegExp }>> = {
  'openai-chat': { folder: 'openai-compatible', url: /\/chat\/completions/ },
  'anthropic-messages': { folder: 'anthropic', url: /\/messages(?:\?|$)/ },
}

for (const provider of wireFormats) {
  const { folder, url } = recorded[provider] ?? {}
  if (!folder) continue
  test(`a recorded empty response reaches each client as an empty response (${provider} provider)`, async () => {
    const responses = recordedExchanges([folder]).filter(
      ({ url: requestUrl, status, response }) =>
        url?.test(requestUrl) && status === 200 && isObject(response) && isEmpty(response),
    )
    assert.ok(responses.length > 0)
    for (const { response: reply, name } of responses)
      for (const client of wireFormats) {
        const request = { client, model: `${providerOf[provider]}/m`, respond: () => json(reply) }
        const { response } = await send(request)
        const result = await wholeClients[client](response)
        assert.equal(result, { ...nothing, inputTokens: 633, outputTokens: 9 }, name)
      }
  })
}

function isEmpty({ content, stop_reason, choices }: JsonObject): boolean {
  if (Array.isArray(content)) return content.length === 0 && stop_reason === 'end_turn'
  const [choice] = Array.isArray(choices) ? choices : []
  const message = isObject(choice) && choice.finish_reason === 'stop' ? choice.message : undefined
  return isObject(message) && Object.entries(message).every(([name, value]) => name === 'role' || value === null)
}
