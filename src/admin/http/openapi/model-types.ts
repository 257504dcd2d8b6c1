import type { ClientFormat } from '../../../types.ts'

/** A format's errors and lists of models. */
interface FormatTypes {
  /** The type names for an error, a list of models, and a model. */
  error: string
  list: string
  model: string
  /** The query parameters for paging through a list, with their descriptions. */
  paging: Readonly<Record<string, { description: string; isNumber?: true }>>
}

const openai: FormatTypes = { error: 'OpenAiError', list: 'ModelList', model: 'Model', paging: {} }

/** Each format's errors and model lists. */
export const formatTypes: Readonly<Record<ClientFormat, FormatTypes>> = {
  'openai-chat': openai,
  'openai-responses': openai,
  'anthropic-messages': {
    error: 'AnthropicError',
    list: 'AnthropicModelList',
    model: 'AnthropicModel',
    paging: {
      limit: { description: 'The size of a page; default: all.', isNumber: true },
      after_id: { description: 'The page starts after this ID.' },
      before_id: { description: 'The page ends before this ID.' },
    },
  },
  gemini: {
    error: 'GeminiError',
    list: 'GeminiModelList',
    model: 'GeminiModel',
    paging: {
      pageSize: { description: 'The size of a page; default: all.', isNumber: true },
      pageToken: { description: 'The `nextPageToken` of the previous page.' },
    },
  },
  'ai-sdk': { error: 'AiSdkError', list: 'AiSdkModelList', model: 'AiSdkModel', paging: {} },
}

/** The types for all formats. */
export const modelTypes = {
  OpenAiError: '{error: {message: string, type: string, param?: string | null, code?: string | null}}',
  ModelList: "{object: 'list', data: Model[]}",
  Model: "{id: string, object: 'model', created: integer, owned_by: string, kind?: 'webSearch' | 'webFetch'}",
  AnthropicError: "{type: 'error', error: {type: string, message: string}, request_id?: string | null}",
  AnthropicModelList: '{data: AnthropicModel[], has_more: boolean, first_id: string | null, last_id: string | null}',
  AnthropicModel: `{type: 'model', id: string, display_name: string, created_at: time, lifecycle: string,
    deprecated_at: string | null, retires_at: string | null, line: string | null, max_input_tokens: integer | null,
    max_tokens: integer | null, capabilities: Record<unknown> | null}`,
  GeminiError: '{error: {code: integer, message: string, status: string}}',
  GeminiModelList: '{models: GeminiModel[], nextPageToken?: string}',
  GeminiModel: '{name: string, displayName: string, supportedGenerationMethods?: string[]}',
  AiSdkError: '{error: {message: string, type: string, param: unknown, code: string | null}}',
  AiSdkModelList: '{models: AiSdkModel[]}',
  AiSdkModel: `{id: string, name: string, modelType: string,
    specification: {specificationVersion: string, provider: string, modelId: string}}`,
}
