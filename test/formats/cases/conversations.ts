import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'
import { block, fullResponses, geminiChunk, messageEnd, messageStart, responseEnd } from './responses.ts'
import { delta } from './support.ts'

/** Opaque provider state in each format. */
export const SECRETS = ['SIGNATURE-1', 'REDACTED-2'] as const

const [signature, redacted] = SECRETS
const thought = 'Let me look.'

/** A complete response with reasoning and two tool calls. */
export const thinking: Readonly<Record<WireFormat, JsonObject>> = {
  'openai-chat': {
    ...fullResponses['openai-chat'],
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          ...{ role: 'assistant', content: null, reasoning_content: `${thought} ${signature}` },
          tool_calls: ['c1', 'c2'].map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })),
        },
      },
    ],
  },
  'openai-responses': {
    ...fullResponses['openai-responses'],
    output: [
      {
        ...{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: thought }] },
        encrypted_content: signature,
      },
      ...['c1', 'c2'].map((id) => ({
        type: 'function_call',
        id: `fc_${id}`,
        call_id: id,
        name: 'look',
        arguments: '{}',
      })),
    ],
  },
  'anthropic-messages': {
    ...fullResponses['anthropic-messages'],
    stop_reason: 'tool_use',
    content: [
      { type: 'thinking', thinking: thought, signature },
      { type: 'redacted_thinking', data: redacted },
      ...['c1', 'c2'].map((id) => ({ type: 'tool_use', id, name: 'look', input: {} })),
    ],
  },
  gemini: {
    ...fullResponses.gemini,
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: thought, thought: true },
            { functionCall: { id: 'c1', name: 'look', args: {} }, thoughtSignature: signature },
            { functionCall: { id: 'c2', name: 'look', args: {} } },
          ],
        },
        ...{ finishReason: 'STOP', index: 0 },
      },
    ],
  },
}

/** The same response as a stream in each format. */
export const thinkingStream: Readonly<Record<WireFormat, (JsonObject | '[DONE]')[]>> = {
  'openai-chat': [
    delta({ role: 'assistant', content: '' }),
    delta({ reasoning_content: thought }),
    delta({ reasoning_content: ` ${signature}` }),
    ...['c1', 'c2'].map((id, index) =>
      delta({ tool_calls: [{ index, id, type: 'function', function: { name: 'look', arguments: '{}' } }] }),
    ),
    delta({}, 'tool_calls'),
    '[DONE]',
  ],
  'openai-responses': [responseEnd(thinking['openai-responses'].output as JsonObject[])],
  'anthropic-messages': [
    messageStart(),
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: thought },
      { type: 'signature_delta', signature },
    ),
    ...block(1, { type: 'redacted_thinking', data: redacted }),
    ...['c1', 'c2'].flatMap((id, index) => block(index + 2, { type: 'tool_use', id, name: 'look', input: {} })),
    ...messageEnd('tool_use'),
  ],
  gemini: [
    geminiChunk([{ text: thought, thought: true }]),
    geminiChunk([{ functionCall: { id: 'c1', name: 'look', args: {} }, thoughtSignature: signature }]),
    geminiChunk([{ functionCall: { id: 'c2', name: 'look', args: {} } }], 'STOP'),
  ],
}

const parameters = { type: 'object', properties: {} }

/** The request fields with which each client declares the tool and requests reasoning. */
export const begin: Readonly<Record<WireFormat, JsonObject>> = {
  'openai-chat': {
    ...{ messages: [{ role: 'user', content: 'go' }], reasoning_effort: 'high' },
    tools: [{ type: 'function', function: { name: 'look', parameters } }],
  },
  'openai-responses': {
    ...{ input: [{ role: 'user', content: 'go' }], reasoning: { effort: 'high', summary: 'auto' } },
    ...{ store: false, include: ['reasoning.encrypted_content'] },
    tools: [{ type: 'function', name: 'look', parameters, strict: false }],
  },
  'anthropic-messages': {
    ...{ messages: [{ role: 'user', content: 'go' }], max_tokens: 32_000 },
    thinking: { type: 'enabled', budget_tokens: 16_000 },
    tools: [{ name: 'look', input_schema: parameters }],
  },
  gemini: {
    contents: [{ role: 'user', parts: [{ text: 'go' }] }],
    generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 16_000 } },
    tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: parameters }] }],
  },
}

/** Continues each client's conversation with the unchanged response and the tool results. */
export const followUps: Readonly<Record<WireFormat, (answer: JsonObject) => JsonObject>> = {
  'openai-chat': ({ choices }) => {
    const [{ message }] = choices as [{ message: { tool_calls: { id: string }[] } }]
    const results = message.tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'seen' }))
    return extended('openai-chat', 'messages', [message, ...results])
  },
  'openai-responses': ({ output }) => {
    const items = output as { type: string; call_id?: string }[]
    const results = items.flatMap(({ call_id }) =>
      call_id === undefined ? [] : [{ type: 'function_call_output', call_id, output: 'seen' }],
    )
    return extended('openai-responses', 'input', [...items, ...results])
  },
  'anthropic-messages': ({ content }) => {
    const results = (content as { type: string; id?: string }[]).flatMap(({ type, id }) =>
      type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'seen' }] : [],
    )
    return extended('anthropic-messages', 'messages', [
      { role: 'assistant', content },
      { role: 'user', content: results },
    ])
  },
  gemini: ({ candidates }) => {
    const [{ content }] = candidates as [{ content: { parts: { functionCall?: { id?: string; name: string } }[] } }]
    const parts = content.parts.flatMap(({ functionCall }) =>
      functionCall ? [{ functionResponse: { ...functionCall, response: { result: 'seen' } } }] : [],
    )
    return extended('gemini', 'contents', [content, { role: 'user', parts }])
  },
}

const extended = (format: WireFormat, name: string, extra: readonly unknown[]): JsonObject => ({
  ...begin[format],
  [name]: [...(begin[format][name] as unknown[]), ...extra],
})
