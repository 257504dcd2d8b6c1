import { createFinder } from '../../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { replaceSpans, scanTopLevel, withMember } from '../../../lib/json-scan.ts'
import { once } from '../../../lib/promises.ts'
import { updateUsage } from '../canonical/reported-usage.ts'
import { hasOnlyItems, isEmptyValue, isNormalEnd } from '../errors/empty-responses.ts'
import {
  type Endpoint,
  FREE,
  getHighestLimit,
  type OutputLimit,
  type RequestBound,
  type ResponseReader,
  readResponseCount,
  type SharedFormat,
  toContentFields,
  toCountReader,
} from '../format.ts'
import { loadFormatErrors } from '../load-format-errors.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../model-operations.ts'
import { KEEP_ALIVE, readError, readUsage, toModelPath } from './gemini-response.ts'

const answers: ResponseReader = {
  isAnswer: ({ candidates, promptFeedback }) =>
    (Array.isArray(candidates) && candidates.length > 0) || isObject(promptFeedback),
  isEmpty: ({ candidates }) =>
    Array.isArray(candidates) &&
    candidates.length > 0 &&
    hasOnlyItems(candidates, ({ finishReason, content }) => isNormalEnd(finishReason, 'STOP') && isEmptyValue(content)),
  getError: (response) => toChunks(response).map(readError).find(Boolean),
  getUsage: (response) =>
    toChunks(response).reduce<ReturnType<typeof readUsage>>(
      (last, chunk) => updateUsage(last, readUsage(chunk)),
      undefined,
    ),
  loadWatcher: once(async () => (await import('./gemini-stream-state.ts')).createGeminiStreamState),
  isOwnEvent: createFinder(['"candidates"', '"usageMetadata"', '"promptFeedback"']),
  assemblesEvents: true,
  contentFields: toContentFields('text', 'functionCall', 'executableCode'),
}

/** The output limit in the generation options. Google accepts both spellings of each name. */
const outputLimit: OutputLimit = {
  get: (body) => getHighestLimit(listConfigs(body).flatMap((config) => INNER.map((name) => config[name]))),
  set({ text, body }, tokens) {
    const outers = OUTER.filter((name) => isObject(body[name]))
    return (outers.length > 0 ? outers : OUTER.slice(0, 1)).reduce((written, outer) => {
      const present = INNER.filter((name) => (getConfig(body, outer)[name] ?? null) !== null)
      const inners = present.length > 0 ? present : INNER.slice(0, 1)
      return withMember(written, outer, (config) =>
        inners.reduce(
          (json, inner) => withMember(json, inner, () => String(tokens)),
          config?.startsWith('{') ? config : '{}',
        ),
      )
    }, text)
  },
  name: 'generationConfig.maxOutputTokens',
}

const bound: RequestBound = {
  answers: (body) =>
    Math.max(
      ...listConfigs(body).flatMap(({ candidateCount, candidate_count: count }) => [
        readResponseCount(candidateCount),
        readResponseCount(count),
      ]),
    ),
}

const OUTER = ['generationConfig', 'generation_config']
const INNER = ['maxOutputTokens', 'max_output_tokens']

const listConfigs = (body: JsonObject): JsonObject[] => OUTER.map((name) => getConfig(body, name))

function getConfig(body: JsonObject, name: string): JsonObject {
  const config = body[name]
  return isObject(config) ? config : {}
}

/** Gemini generateContent. A response may be an array, which is a stream that wasn't requested as events. */
export const gemini: SharedFormat = {
  name: 'gemini',
  auth: 'x-goog-api-key',
  defaultHeaders: {},
  endpoints: [...createEndpoints('v1beta'), ...createEndpoints('v1')], // Google's clients call both versions
  clientDetection: {
    paths: /^\/v1beta(?:\/|$)|:(?:generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents)$/,
    headers: ['x-goog-api-key', 'x-goog-api-client'],
  },
  requestIdHeader: 'x-request-id',
  loadErrors: async () => (await loadFormatErrors()).geminiErrors,
  keepAlive: KEEP_ALIVE,
  streamsArrays: true,
  answers: { generate: answers, 'count-tokens': toCountReader(answers) },
  loadTranslator: async () => (await loadTranslators()).geminiTranslator,
}

/** Creates the endpoints for a model, whose name is in the path, in one version of the API. */
function createEndpoints(version: string): Endpoint[] {
  const createEndpoint = (
    method: string,
    more: Pick<Endpoint, 'operation' | 'streams' | 'replaceModel' | 'outputLimit' | 'bound'>,
  ): Endpoint => ({
    path: `/${version}/models/{model}:${method}`,
    format: 'gemini',
    bodyType: 'json',
    upstreamPath: (model) => `${toModelPath(model)}:${method}${more.streams === 'always' ? '?alt=sse' : ''}`,
    ...more,
  })
  return [
    createEndpoint('generateContent', { operation: operations.generate, streams: 'never', outputLimit, bound }),
    createEndpoint('streamGenerateContent', { operation: operations.generate, streams: 'always', outputLimit, bound }),
    createEndpoint('countTokens', {
      operation: operations.countTokens,
      streams: 'never',
      replaceModel: replaceCountModel,
      bound: FREE,
    }),
  ]
}

const toChunks = (response: unknown): unknown[] => (Array.isArray(response) ? response : [response])

/** Replaces the model inside the request of a `countTokens` body, which also names one. Changes nothing else. */
function replaceCountModel(text: string, model: string): string {
  const { spans } = scanTopLevel(text, ['generateContentRequest', 'generate_content_request'])
  let body = ''
  let position = 0
  for (const { start, end } of spans) {
    const within = text.slice(start, end)
    const named = replaceSpans(within, scanTopLevel(within, ['model']).spans, JSON.stringify(`models/${model}`))
    body += text.slice(position, start) + named
    position = end
  }
  return body + text.slice(position)
}
