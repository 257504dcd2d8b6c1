import { wireFormats } from '../../../src/types/unions.ts'
import type { Catalog, ProviderSpecificData } from '../../../src/types.ts'
import { clients, wholeClients } from '../../formats/support/clients.ts'
import { eventFrame } from '../../formats/support/event-stream.ts'
import { assert, suite } from '../../support/suite.ts'
import { questions } from '../support/sample-requests.ts'
import { fakeUpstream, getBody, json, sse } from '../support/upstream.ts'
import { openWorld } from '../support/world.ts'

const test = suite('cloud providers with clients of every format')

const catalog: Catalog = {
  bedrock: { cloud: 'bedrock', format: 'bedrock-converse' },
  vertex: { cloud: 'vertex', format: 'gemini', formats: { 'claude-': 'anthropic-messages' } },
}

/** A cloud model's response, streamed or not: some text and a tool call. */
interface Place {
  provider: string
  settings: ProviderSpecificData
  /** The URLs for non-streaming and streaming requests. */
  urls: [whole: string, stream: string]
  whole(): Response
  stream(): Response
}

const output = { text: 'I look.', calls: [{ name: 'look', args: { at: 'sky' } }], finish: 'calls' }
const usage = { inputTokens: 10, outputTokens: 5 }

const frames = (chunks: Uint8Array[]) =>
  new Response(getBody(chunks), { headers: { 'content-type': 'application/vnd.amazon.eventstream' } })

const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

const call = { toolUseId: 'tooluse_1', name: 'look' }
const bedrockUsage = { inputTokens: 7, cacheReadInputTokens: 3, outputTokens: 5, totalTokens: 15 }

const candidate = (parts: object[], extra: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...extra }],
  modelVersion: 'gemini-3-flash',
  responseId: 'r1',
})
const googleCall = { functionCall: { name: 'look', args: { at: 'sky' } } }
const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }

const message = { id: 'msg_vrtx_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5-20250929' }
const claudeCall = { type: 'tool_use', id: 'toolu_1', name: 'look' }

const places: Record<string, Place> = {
  'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0': {
    provider: 'bedrock',
    settings: { region: 'us-east-1' },
    urls: ['converse', 'converse-stream'].map(
      (operation) =>
        `https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/${operation}`,
    ) as [string, string],
    whole: () =>
      json({
        output: {
          message: {
            role: 'assistant',
            content: [{ text: 'I look.' }, { toolUse: { ...call, input: { at: 'sky' } } }],
          },
        },
        stopReason: 'tool_use',
        usage: bedrockUsage,
      }),
    stream: () =>
      frames([
        eventFrame('messageStart', { role: 'assistant' }),
        eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'I ' } }),
        eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'look.' } }),
        eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
        eventFrame('contentBlockStart', { contentBlockIndex: 1, start: { toolUse: call } }),
        eventFrame('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '{"at":' } } }),
        eventFrame('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '"sky"}' } } }),
        eventFrame('contentBlockStop', { contentBlockIndex: 1 }),
        eventFrame('messageStop', { stopReason: 'tool_use' }),
        eventFrame('metadata', { usage: bedrockUsage }),
      ]),
  },
  'vertex/gemini-3-flash': {
    provider: 'vertex',
    settings: { project: 'mine' },
    urls: ['generateContent', 'streamGenerateContent?alt=sse'].map(
      (method) =>
        `https://aiplatform.googleapis.com/v1beta1/projects/mine/locations/global/publishers/google/models/gemini-3-flash:${method}`,
    ) as [string, string],
    whole: () => json({ ...candidate([{ text: 'I look.' }, googleCall], { finishReason: 'STOP' }), usageMetadata }),
    stream: () =>
      sse(
        [
          candidate([{ text: 'I ' }]),
          candidate([{ text: 'look.' }]),
          { ...candidate([googleCall], { finishReason: 'STOP' }), usageMetadata },
        ].map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`),
      ),
  },
  'vertex/claude-sonnet-4-5@20250929': {
    provider: 'vertex',
    settings: { project: 'mine', region: 'europe-west1' },
    urls: ['rawPredict', 'streamRawPredict'].map(
      (method) =>
        `https://europe-west1-aiplatform.googleapis.com/v1/projects/mine/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-5@20250929:${method}`,
    ) as [string, string],
    whole: () =>
      json({
        ...message,
        content: [
          { type: 'text', text: 'I look.' },
          { ...claudeCall, input: { at: 'sky' } },
        ],
        stop_reason: 'tool_use',
        stop_sequence: null,
        usage: { input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 5 },
      }),
    stream: () =>
      sse(
        [
          {
            type: 'message_start',
            message: {
              ...message,
              content: [],
              stop_reason: null,
              stop_sequence: null,
              usage: { input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 1 },
            },
          },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I look.' } },
          { type: 'content_block_stop', index: 0 },
          { type: 'content_block_start', index: 1, content_block: { ...claudeCall, input: {} } },
          {
            type: 'content_block_delta',
            index: 1,
            delta: { type: 'input_json_delta', partial_json: '{"at":"sky"}' },
          },
          { type: 'content_block_stop', index: 1 },
          {
            type: 'message_delta',
            delta: { stop_reason: 'tool_use', stop_sequence: null },
            usage: { output_tokens: 5 },
          },
          { type: 'message_stop' },
        ].map(event),
      ),
  },
}

for (const [model, { provider, settings, urls, whole, stream }] of Object.entries(places)) {
  for (const format of wireFormats) {
    test(`${model} responds to ${format} clients`, async () => {
      const upstream = fakeUpstream((_, index) => (index === 1 ? whole() : stream()))
      const connections = [{ provider, apiKey: 'a-credential-0123456789', providerSpecificData: settings }]
      const world = await openWorld({ fetch: upstream, catalog, connections })
      for (const isStream of [false, true]) {
        const [path, body] = questions[format](model, isStream)
        const response = await world.post(path, body)
        assert.is(response.status, 200, await (response.status === 200 ? '' : response.text()))
        const received = await (isStream ? clients : wholeClients)[format](response)
        assert.equal(received, { ...output, reasoning: '', ...usage }, isStream ? 'streamed' : 'whole')
      }
      assert.equal(
        upstream.calls.map(({ url }) => url.href),
        urls,
      )
      for (const { headers, body } of upstream.calls) {
        assert.is(headers.get('authorization'), 'Bearer a-credential-0123456789')
        for (const word of ['What is it?', 'Be brief.', 'iVBORw0KGgo', '"look"']) assert.ok(body.includes(word), word)
        assert.ok(!('model' in JSON.parse(body)), body)
      }
      assert.equal(
        world.recorded.usages.map(({ inputTokens, outputTokens }) => ({ inputTokens, outputTokens })),
        [usage, usage],
      )
    })
  }
}
