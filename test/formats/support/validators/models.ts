import { isObject, type JsonObject } from '../../../../src/lib/json.ts'
import type { WireFormat } from '../../../../src/types.ts'
import { listBroken, type Validator } from './validator.ts'

/** A model that rejects many features of its format. */
export interface StrictModel {
  provider: string
  model: string
  problems: Validator
}

const object = (value: unknown): JsonObject => (isObject(value) ? value : {})
const hasNone = (body: JsonObject, ...fields: string[]) => fields.every((field) => body[field] === undefined)
const last = (list: unknown) => object(Array.isArray(list) ? list.at(-1) : undefined)

/** One model per vendor. Sources: the vendors' pages on these models, and errors in the recordings. */
export const strictModels: Readonly<Record<WireFormat, StrictModel>> = {
  'openai-chat': {
    provider: 'openai',
    model: 'gpt-5.1',
    problems: (body) =>
      listBroken({
        'it does not accept stop or max_tokens': hasNone(body, 'stop', 'max_tokens', 'prediction'),
        'it only accepts sampling options while it does not reason':
          hasNone(body, 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'logprobs', 'logit_bias') ||
          /^none$/.test(String(body.reasoning_effort ?? 'none')),
        'it supports four efforts': /^(undefined|none|low|medium|high)$/.test(String(body.reasoning_effort)),
      }),
  },
  'openai-responses': {
    provider: 'openai',
    model: 'o3',
    problems: (body) =>
      listBroken({
        'it does not accept sampling options': hasNone(body, 'temperature', 'top_p', 'top_logprobs'),
        'it accepts neither verbosity nor parallel_tool_calls':
          hasNone(body, 'parallel_tool_calls') && hasNone(object(body.text), 'verbosity'),
        'it supports three efforts': /^(undefined|low|medium|high)$/.test(String(object(body.reasoning).effort)),
        'it does not support free-text tools': !JSON.stringify(body.tools ?? []).includes('"type":"custom"'),
      }),
  },
  'anthropic-messages': {
    provider: 'anthropic',
    model: 'claude-opus-4-8',
    problems: (body) =>
      listBroken({
        'it does not accept sampling options': hasNone(body, 'temperature', 'top_p', 'top_k'),
        'it does not accept a thinking budget': object(body.thinking).type !== 'enabled',
        'it does not continue a response': last(body.messages).role !== 'assistant',
      }),
  },
  gemini: {
    provider: 'google',
    model: 'gemini-3-pro-preview',
    problems: (body) => {
      const config = object(body.generationConfig)
      return listBroken({
        'it sets thinking by level': hasNone(object(config.thinkingConfig), 'thinkingBudget'),
        'its first calls are signed': isSigned(body.contents),
      })
    },
  },
}

/** Returns whether each model turn with calls has a signature on its first call. */
function isSigned(contents: unknown): boolean {
  const turns = Array.isArray(contents) ? contents.map(object) : []
  return turns.every(({ parts }) => {
    const call = (Array.isArray(parts) ? parts : []).find((part) => isObject(part) && part.functionCall)
    return !call || typeof object(call).thoughtSignature === 'string'
  })
}
