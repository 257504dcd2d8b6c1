import type { Catalog, WireFormat } from '../../../src/types.ts'
import { converseResponse, eventFrame } from '../../formats/support/event-stream.ts'
import { chatChunk, chatResponse, messageResponse } from './responses.ts'
import { getBody, json, sse } from './upstream.ts'

export const catalog: Catalog = {
  chat: { baseUrl: 'http://chat.test/v1' },
  other: { baseUrl: 'http://other.test/v1' },
  responses: { baseUrl: 'http://responses.test/v1', format: 'openai-responses' },
  claude: { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages' },
  google: { baseUrl: 'http://google.test/v1', format: 'gemini' },
  bedrock: { cloud: 'bedrock', format: 'bedrock-converse' },
  vertex: { cloud: 'vertex', format: 'gemini', formats: { 'claude-': 'anthropic-messages' } },
}

const providerSpecificData = { region: 'us-east-1', project: 'mine' }
export const connections = Object.keys(catalog).map((provider) => ({
  provider,
  apiKey: `a-credential-of-${provider}`,
  ...(catalog[provider]?.cloud === 'bedrock' && { providerSpecificData: { region: providerSpecificData.region } }),
  ...(catalog[provider]?.cloud === 'vertex' && { providerSpecificData: { project: providerSpecificData.project } }),
}))

/** Builds the JSON of an object with this many levels. With a long integer as its innermost value, the gateway parses it differently. */
export const nestJson = (depth: number, leaf = '1') => `${'{"a":'.repeat(depth)}${leaf}${'}'.repeat(depth)}`

export const LIMIT = 64
export const LEAVES = ['1', '12345678901234567890']
export const tool = { name: 'look', parameters: { type: 'object', properties: {} } }

const createCall = (args: unknown) => ({ id: 'c1', type: 'function', function: { name: 'look', arguments: args } })

/** Each provider's complete and streamed responses, with a tool call that has this JSON as its arguments. */
export const responses: Record<string, { whole(args: string): Response; stream(args: string): Response }> = {
  chat: {
    whole: (args) =>
      json({
        ...chatResponse(),
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: args } }],
            },
            finish_reason: 'tool_calls',
          },
        ],
      }),
    stream: (args) =>
      sse([
        chatChunk({ role: 'assistant', content: 'I look.' }),
        chatChunk({
          tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '' } }],
        }),
        ...(args.match(/.{1,1000}/gs) ?? []).map((piece) =>
          chatChunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }),
        ),
        chatChunk({}, 'tool_calls'),
        'data: [DONE]\n\n',
      ]),
  },
  'chat, with object arguments': {
    whole: (args) =>
      json(
        JSON.stringify({
          ...chatResponse(),
          choices: [
            { index: 0, message: { role: 'assistant', tool_calls: [createCall(0)] }, finish_reason: 'tool_calls' },
          ],
        }).replace('"arguments":0', `"arguments":${args}`),
      ),
    stream: (args) =>
      sse([
        chatChunk({ role: 'assistant', content: 'I look.' }),
        chatChunk({ tool_calls: [{ index: 0, ...createCall(0) }] }).replace('"arguments":0', `"arguments":${args}`),
        chatChunk({}, 'tool_calls'),
        'data: [DONE]\n\n',
      ]),
  },
  claude: {
    whole: (args) =>
      json(
        JSON.stringify({
          ...messageResponse(),
          content: [{ type: 'tool_use', id: 't1', name: 'look', input: 0 }],
          stop_reason: 'tool_use',
        }).replace('"input":0', `"input":${args}`),
      ),
    stream: (args) =>
      sse(
        [
          JSON.stringify({ type: 'message_start', message: { ...messageResponse(), content: [], stop_reason: null } }),
          '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
          '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look."}}',
          '{"type":"content_block_stop","index":0}',
          `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"look","input":${args}}}`,
          '{"type":"content_block_stop","index":1}',
          '{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}',
          '{"type":"message_stop"}',
        ].map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`),
      ),
  },
  google: {
    whole: (args) =>
      json(
        `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":${args}}}]},"finishReason":"STOP","index":0}]}`,
      ),
    stream: (args) =>
      sse(
        [
          '{"candidates":[{"content":{"role":"model","parts":[{"text":"I look."}]},"index":0}]}',
          `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":${args}}}]},"finishReason":"STOP","index":0}]}`,
        ].map((data) => `data: ${data}\n\n`),
      ),
  },
  bedrock: {
    whole: (args) =>
      json(
        JSON.stringify({ ...converseResponse(), stopReason: 'tool_use' }).replace(
          '{"text":"Hello"}',
          `{"toolUse":{"toolUseId":"t1","name":"look","input":${args}}}`,
        ),
      ),
    stream: (args) =>
      new Response(
        getBody([
          eventFrame('messageStart', { role: 'assistant' }),
          eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'I look.' } }),
          eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
          eventFrame('contentBlockStart', {
            contentBlockIndex: 1,
            start: { toolUse: { toolUseId: 't1', name: 'look' } },
          }),
          eventFrame('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: args } } }),
          eventFrame('contentBlockStop', { contentBlockIndex: 1 }),
          eventFrame('messageStop', { stopReason: 'tool_use' }),
        ]),
        { headers: { 'content-type': 'application/vnd.amazon.eventstream' } },
      ),
  },
}

const hi = [{ role: 'user', content: 'Look.' }]
export const questions: Record<WireFormat, (model: string, stream: boolean) => [path: string, body: object]> = {
  'openai-chat': (model, stream) => [
    '/v1/chat/completions',
    { model, stream, messages: hi, tools: [{ type: 'function', function: tool }] },
  ],
  'openai-responses': (model, stream) => [
    '/v1/responses',
    { model, stream, input: 'Look.', tools: [{ type: 'function', ...tool }] },
  ],
  'anthropic-messages': (model, stream) => [
    '/v1/messages',
    { model, stream, max_tokens: 9, messages: hi, tools: [{ name: 'look', input_schema: tool.parameters }] },
  ],
  gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: 'Look.' }] }], tools: [{ functionDeclarations: [tool] }] },
  ],
}

const formatOf: Record<string, string> = {
  chat: 'openai-chat',
  'chat, with object arguments': 'openai-chat',
  claude: 'anthropic-messages',
  google: 'gemini',
}
const objects: readonly WireFormat[] = ['anthropic-messages', 'gemini']

/** Returns whether translation parses the arguments instead of sending them as JSON. */
export function isParsed(provider: string, client: WireFormat, stream: boolean): boolean {
  if (formatOf[provider] === client) return false
  if (provider === 'chat') return stream ? client === 'gemini' : objects.includes(client)
  if (provider === 'bedrock' && stream) return client === 'gemini' // string fragments, as in OpenAI's formats
  return true
}
