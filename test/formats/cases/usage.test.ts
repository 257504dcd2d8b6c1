import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses, geminiChunk, messageStart, output, responseEnd } from './responses.ts'
import { delta, getData, getStream, providerOf, send } from './support.ts'

const test = suite('cases: usage')

/**
 * The same usage as each provider reports it, streamed or not: 1,110 input tokens, of which 1,000 were read from the cache and 100 written to it, and
 * 50 output tokens.
 */
const counts: Readonly<Record<WireFormat, JsonObject>> = {
  'openai-chat': {
    ...{ prompt_tokens: 1_110, completion_tokens: 50, total_tokens: 1_160 },
    prompt_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 100 },
  },
  'openai-responses': {
    ...{ input_tokens: 1_110, output_tokens: 50, total_tokens: 1_160 },
    input_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 100 },
    output_tokens_details: { reasoning_tokens: 0 },
  },
  'anthropic-messages': {
    ...{ input_tokens: 10, cache_creation_input_tokens: 100, cache_read_input_tokens: 1_000, output_tokens: 50 },
  },
  gemini: {
    promptTokenCount: 1_110,
    cachedContentTokenCount: 1_000,
    candidatesTokenCount: 40,
    thoughtsTokenCount: 10,
    totalTokenCount: 1_160,
  },
}

const responses: Readonly<Record<WireFormat, JsonObject>> = {
  'openai-chat': { ...fullResponses['openai-chat'], usage: counts['openai-chat'] },
  'openai-responses': { ...fullResponses['openai-responses'], usage: counts['openai-responses'] },
  'anthropic-messages': { ...fullResponses['anthropic-messages'], usage: counts['anthropic-messages'] },
  gemini: { ...fullResponses.gemini, usageMetadata: counts.gemini },
}

const streams: Readonly<Record<WireFormat, (JsonObject | '[DONE]')[]>> = {
  'openai-chat': [
    delta({ role: 'assistant', content: 'a' }),
    delta({}, 'stop'),
    { choices: [], usage: counts['openai-chat'] },
    '[DONE]',
  ],
  'openai-responses': [
    ...output['openai-responses']('a').slice(0, -1),
    {
      ...responseEnd([]),
      response: { ...(responseEnd([]).response as JsonObject), usage: counts['openai-responses'] },
    },
  ],
  'anthropic-messages': [
    messageStart({ ...counts['anthropic-messages'], output_tokens: 1 }),
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 50 } },
    { type: 'message_stop' },
  ],
  gemini: [{ ...geminiChunk([{ text: 'a' }], 'STOP'), usageMetadata: counts.gemini }],
}

/** Returns the usage that a client receives: all input, cache reads, cache writes, and output. */
const result: Readonly<
  Record<WireFormat, (usage: Record<string, number> & { [details: string]: unknown }) => number[]>
> = {
  'openai-chat': ({ prompt_tokens, completion_tokens, prompt_tokens_details: details }) => [
    ...[prompt_tokens ?? 0, ...getCache(details), completion_tokens ?? 0],
  ],
  'openai-responses': ({ input_tokens, output_tokens, input_tokens_details: details }) => [
    ...[input_tokens ?? 0, ...getCache(details), output_tokens ?? 0],
  ],
  'anthropic-messages': ({
    input_tokens = 0,
    output_tokens = 0,
    cache_read_input_tokens: read = 0,
    cache_creation_input_tokens: written = 0,
  }) => [...[input_tokens + read + written, read, written, output_tokens]],
  gemini: ({
    promptTokenCount: input = 0,
    cachedContentTokenCount: read = 0,
    candidatesTokenCount = 0,
    thoughtsTokenCount = 0,
  }) => [...[input, read, 0, candidatesTokenCount + thoughtsTokenCount]],
}

function getCache(details: unknown): number[] {
  const { cached_tokens = 0, cache_write_tokens = 0 } = (details ?? {}) as Record<string, number>
  return [cached_tokens, cache_write_tokens]
}

/** Finds the final usage in a client's stream. */
function getUsage(events: readonly JsonObject[]): JsonObject {
  const found = events.map(
    (event) => event.usage ?? event.usageMetadata ?? (event.response as JsonObject | undefined)?.usage,
  )
  return found.findLast(Boolean) as JsonObject
}

for (const from of wireFormats) {
  for (const client of wireFormats) {
    if (client === from) continue
    test(`tokens are counted once, including cached tokens, streamed or not (${from} provider, ${client} client)`, async () => {
      const written = from === 'gemini' || client === 'gemini' ? 0 : 100 // Gemini doesn't report cache writes
      const expected = [1_110, 1_000, written, 50]
      const request = { client, model: `${providerOf[from]}/m` }
      const once = await send({ ...request, respond: () => json(responses[from]) })
      const body = await once.response.json()
      assert.equal(result[client](body.usage ?? body.usageMetadata), expected)
      const streamed = await send({
        ...{ ...request, stream: true, respond: () => getStream(from, streams[from]) },
        body: client === 'openai-chat' ? { stream_options: { include_usage: true } } : {},
      })
      assert.equal(result[client](getUsage(await getData(streamed.response)) as never), expected)
      const [counted] = streamed.world.recorded.usages
      assert.equal([counted?.inputTokens, counted?.cacheReadTokens, counted?.outputTokens], [1_110, 1_000, 50])
    })
  }
}

test("a Messages client's input tokens don't include cached tokens", async () => {
  const usage = {
    input_tokens: 12_000,
    input_tokens_details: { cached_tokens: 11_008 },
    output_tokens: 1,
    total_tokens: 12_001,
  }
  const respond = () => json({ ...fullResponses['openai-responses'], usage })
  const { response } = await send({ client: 'anthropic-messages', model: 'responses/m', respond })
  const { usage: result } = await response.json()
  assert.equal([result.input_tokens, result.cache_read_input_tokens], [992, 11_008])
})

test('tokens reported before a stream broke off are counted', async () => {
  const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 1, totalTokenCount: 8 }
  const respond = () => getStream('gemini', [{ ...geminiChunk([{ text: 'a' }]), usageMetadata }])
  for (const client of wireFormats) {
    const { response, world } = await send({ client, model: 'gemini/m', stream: true, respond })
    await response.text()
    const [result] = world.recorded.usages
    assert.equal([result?.inputTokens, result?.outputTokens, world.recorded.requests[0]?.status], [7, 1, 502], client)
  }
})

const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
const endings: Record<string, JsonObject> = {
  Groq: { ...delta({}, 'stop'), x_groq: { usage } },
  Moonshot: { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] },
}

for (const [vendor, ending] of Object.entries(endings)) {
  test(`tokens are read from ${vendor}'s usage fields, even in a passed-through stream`, async () => {
    for (const client of ['openai-chat', 'anthropic-messages'] as const) {
      const respond = () => getStream('openai-chat', [delta({ content: 'a' }), ending, '[DONE]'])
      const { response, world } = await send({ client, model: 'chat/m', stream: true, respond })
      await response.text()
      const [result] = world.recorded.usages
      assert.equal([result?.inputTokens, result?.outputTokens], [7, 5], client)
    }
  })
}
