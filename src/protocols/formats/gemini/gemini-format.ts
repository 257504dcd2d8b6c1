import { replaceSpans, scanTopLevel } from '../../../lib/json-scan.ts'
import { once } from '../../../lib/promises.ts'
import type { Endpoint, SharedFormat } from '../format.ts'
import { BLANK_KEEP_ALIVE } from '../keep-alive-texts.ts'
import { loadFormatErrors } from '../load-format-errors.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../model-operations.ts'
import { toModelPath } from './model-path.ts'

/** Gemini generateContent. A response may be an array: a stream that wasn't requested as events. */
export const gemini: SharedFormat = {
  name: 'gemini',
  auth: 'x-goog-api-key',
  defaultHeaders: {},
  endpoints: [...createEndpoints('v1beta'), ...createEndpoints('v1')], // Google's clients call both versions of the API
  clientDetection: {
    paths: /^\/v1beta(?:\/|$)|:(?:generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents)$/,
    headers: ['x-goog-api-key', 'x-goog-api-client'],
  },
  requestIdHeader: 'x-request-id',
  loadErrors: async () => (await loadFormatErrors()).geminiErrors,
  keepAlive: BLANK_KEEP_ALIVE,
  streamsArrays: true,
  loadReaders: once(async () => (await import('./gemini-readers.ts')).geminiReaders),
  loadTranslator: async () => (await loadTranslators()).geminiTranslator,
}

/** Creates a model's endpoints in one version of the API. The path contains the model name. */
function createEndpoints(version: string): Endpoint[] {
  const createEndpoint = (
    method: string,
    overrides: Pick<Endpoint, 'operation' | 'streams' | 'replaceModel' | 'limitsOutput'>,
  ): Endpoint => ({
    path: `/${version}/models/{model}:${method}`,
    format: 'gemini',
    bodyType: 'json',
    upstreamPath: (model) => `${toModelPath(model)}:${method}${overrides.streams === 'always' ? '?alt=sse' : ''}`,
    ...overrides,
  })
  return [
    createEndpoint('generateContent', { operation: operations.generate, streams: 'never', limitsOutput: true }),
    createEndpoint('streamGenerateContent', { operation: operations.generate, streams: 'always', limitsOutput: true }),
    createEndpoint('countTokens', {
      operation: operations.countTokens,
      streams: 'never',
      replaceModel: replaceCountModel,
    }),
  ]
}

/** Replaces the model in a `countTokens` body's inner request, which also names one. Changes nothing else. */
function replaceCountModel(text: string, model: string): string {
  const { spans } = scanTopLevel(text, ['generateContentRequest', 'generate_content_request'])
  let body = ''
  let position = 0
  for (const { start, end } of spans) {
    const nestedRequest = text.slice(start, end)
    const updatedRequest = replaceSpans(
      nestedRequest,
      scanTopLevel(nestedRequest, ['model']).spans,
      JSON.stringify(`models/${model}`),
    )
    body += text.slice(position, start) + updatedRequest
    position = end
  }
  return body + text.slice(position)
}
