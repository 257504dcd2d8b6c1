import * as v from 'valibot'
import type { ClientFormat, ModelEntry } from '../../../types.ts'

const text = v.string()
const textOrNull = v.nullable(text)
const whole = v.pipe(v.number(), v.integer())

/** A schema, and the name by which other schemas refer to it. */
type Named = readonly [name: string, schema: v.GenericSchema]

/** The schemas of a format's errors and lists of models. */
interface FormatSchemas {
  error: Named
  /** A list of models, and one of its entries. */
  list: Named
  model: Named
  /** The parameters of the query by which a list is cut into pages, with what each means. */
  paging: Readonly<Record<string, { description: string; isNumber?: true }>>
}

const modelEntry: v.GenericSchema<ModelEntry> = v.object({
  id: text,
  object: v.literal('model'),
  created: whole,
  owned_by: text,
  kind: v.exactOptional(v.picklist(['webSearch', 'webFetch'])),
})

const openai: FormatSchemas = {
  error: [
    'OpenAiError',
    v.object({
      error: v.object({
        message: text,
        type: text,
        param: v.exactOptional(textOrNull),
        code: v.exactOptional(textOrNull),
      }),
    }),
  ],
  list: ['ModelList', v.object({ object: v.literal('list'), data: v.array(modelEntry) })],
  model: ['Model', modelEntry],
  paging: {},
}

const anthropicModel = v.object({
  type: v.literal('model'),
  id: text,
  display_name: text,
  created_at: v.pipe(text, v.isoTimestamp()),
  lifecycle: text,
  deprecated_at: textOrNull,
  retires_at: textOrNull,
  line: textOrNull,
  max_input_tokens: v.nullable(whole),
  max_tokens: v.nullable(whole),
  capabilities: v.nullable(v.record(text, v.unknown())),
})

const geminiModel = v.object({
  name: text,
  displayName: text,
  supportedGenerationMethods: v.exactOptional(v.array(text)),
})

const aiSdkModel = v.object({
  id: text,
  name: text,
  specification: v.object({ specificationVersion: text, provider: text, modelId: text }),
  modelType: text,
})

/** The error, the list of models and the model of each format, and how its lists are cut into pages. */
export const formatSchemas: Readonly<Record<ClientFormat, FormatSchemas>> = {
  'openai-chat': openai,
  'openai-responses': openai,
  'anthropic-messages': {
    error: [
      'AnthropicError',
      v.object({
        type: v.literal('error'),
        error: v.object({ type: text, message: text }),
        request_id: v.exactOptional(textOrNull),
      }),
    ],
    list: [
      'AnthropicModelList',
      v.object({ data: v.array(anthropicModel), has_more: v.boolean(), first_id: textOrNull, last_id: textOrNull }),
    ],
    model: ['AnthropicModel', anthropicModel],
    paging: {
      limit: { description: 'The size of a page; default: all.', isNumber: true },
      after_id: { description: 'The page starts after this ID.' },
      before_id: { description: 'The page ends before this ID.' },
    },
  },
  gemini: {
    error: ['GeminiError', v.object({ error: v.object({ code: whole, message: text, status: text }) })],
    list: ['GeminiModelList', v.object({ models: v.array(geminiModel), nextPageToken: v.exactOptional(text) })],
    model: ['GeminiModel', geminiModel],
    paging: {
      pageSize: { description: 'The size of a page; default: all.', isNumber: true },
      pageToken: { description: 'The `nextPageToken` of the previous page.' },
    },
  },
  'ai-sdk': {
    error: [
      'AiSdkError',
      v.object({ error: v.object({ message: text, type: text, param: v.unknown(), code: textOrNull }) }),
    ],
    list: ['AiSdkModelList', v.object({ models: v.array(aiSdkModel) })],
    model: ['AiSdkModel', aiSdkModel],
    paging: {},
  },
}

/** The names of all schemas above. */
export function modelSchemaNames(): [object, string][] {
  return Object.values(formatSchemas).flatMap(({ error, list, model }) =>
    [error, list, model].map(([name, schema]): [object, string] => [schema, name]),
  )
}
