import { isObject } from '../../lib/json.ts'
import { replaceSpans, scanTopLevel } from '../../lib/json-scan.ts'
import type { Endpoint, Format } from '../format.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../operations.ts'
import { geminiErrors } from './errors.ts'
import { createGeminiStreamState, errorIn, KEEP_ALIVE, modelPath, usageIn } from './stream-state.ts'

/** Gemini generateContent. An answer may be an array: that is a stream which was not asked for as events. */
export const gemini: Format = {
  name: 'gemini',
  auth: 'x-goog-api-key',
  defaultHeaders: {},
  endpoints: [...methodsUnder('v1beta'), ...methodsUnder('v1')], // Google's clients call either version
  clientSigns: {
    paths: /^\/v1beta(?:\/|$)|:(?:generateContent|streamGenerateContent|countTokens)$/,
    headers: ['x-goog-api-key', 'x-goog-api-client'],
  },
  requestIdHeader: 'x-request-id',
  errors: geminiErrors,
  keepAlive: KEEP_ALIVE,
  streamsArrays: true,
  countBody: async (text, model) => countBodyFor(text, model),
  watchStream: createGeminiStreamState,
  usageOf: (answer) =>
    chunksOf(answer).reduce<ReturnType<typeof usageIn>>((last, chunk) => usageIn(chunk) ?? last, undefined),
  errorIn: (answer) => chunksOf(answer).map(errorIn).find(Boolean),
  isAnswer: ({ candidates, promptFeedback }) =>
    (Array.isArray(candidates) && candidates.length > 0) || isObject(promptFeedback),
  loadTranslator: async () => (await loadTranslators()).geminiTranslator,
}

/** The methods of a model, whose name is in the path, under one version of the API. */
function methodsUnder(version: string): Endpoint[] {
  const of = (method: string, more: Pick<Endpoint, 'operation' | 'streams'>): Endpoint => ({
    path: `/${version}/models/{model}:${method}`,
    format: 'gemini',
    upstreamPath: (model) => `${modelPath(model)}:${method}${more.streams === 'always' ? '?alt=sse' : ''}`,
    ...more,
  })
  return [
    of('generateContent', { operation: operations.generate, streams: 'never' }),
    of('streamGenerateContent', { operation: operations.generate, streams: 'always' }),
    of('countTokens', { operation: operations.countTokens, streams: 'never' }),
  ]
}

const chunksOf = (answer: unknown): unknown[] => (Array.isArray(answer) ? answer : [answer])

/** A `countTokens` body with this model in the request within it, which names a model too; every other character stays. */
function countBodyFor(text: string, model: string): string {
  const { spans } = scanTopLevel(text, ['generateContentRequest', 'generate_content_request'])
  let body = ''
  let at = 0
  for (const { start, end } of spans) {
    const within = text.slice(start, end)
    const named = replaceSpans(within, scanTopLevel(within, ['model']).spans, JSON.stringify(`models/${model}`))
    body += text.slice(at, start) + named
    at = end
  }
  return body + text.slice(at)
}
