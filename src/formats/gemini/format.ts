import { createFinder } from '../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { replaceSpans, scanTopLevel, withMember } from '../../lib/json-scan.ts'
import { isEmptyValue, isListOf, isNormalEnd } from '../errors/empty.ts'
import {
  type AnswerReader,
  answersIn,
  countsLike,
  type Endpoint,
  FREE,
  highestLimit,
  type OutputLimit,
  type RequestBound,
  type SharedFormat,
  saidIn,
} from '../format.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../operations.ts'
import { geminiErrors } from './errors.ts'
import { createGeminiStreamState, errorIn, KEEP_ALIVE, modelPath, usageIn } from './stream-state.ts'

const answers: AnswerReader = {
  isAnswer: ({ candidates, promptFeedback }) =>
    (Array.isArray(candidates) && candidates.length > 0) || isObject(promptFeedback),
  isEmpty: ({ candidates }) =>
    Array.isArray(candidates) &&
    candidates.length > 0 &&
    isListOf(candidates, ({ finishReason, content }) => isNormalEnd(finishReason, 'STOP') && isEmptyValue(content)),
  errorIn: (answer) => chunksOf(answer).map(errorIn).find(Boolean),
  usageOf: (answer) =>
    chunksOf(answer).reduce<ReturnType<typeof usageIn>>((last, chunk) => usageIn(chunk) ?? last, undefined),
  watchStream: createGeminiStreamState,
  isOwnEvent: createFinder(['"candidates"', '"usageMetadata"', '"promptFeedback"']),
  gathersEvents: true,
  said: saidIn('text', 'functionCall', 'executableCode'),
}

/** The limit within the options of the answer; Google takes both spellings of each name. */
const outputLimit: OutputLimit = {
  of: (body) => highestLimit(configsIn(body).flatMap((config) => INNER.map((name) => config[name]))),
  set({ text, body }, tokens) {
    const outers = OUTER.filter((name) => isObject(body[name]))
    return (outers.length > 0 ? outers : OUTER.slice(0, 1)).reduce((written, outer) => {
      const given = INNER.filter((name) => (configIn(body, outer)[name] ?? null) !== null)
      const inners = given.length > 0 ? given : INNER.slice(0, 1)
      return withMember(written, outer, (config) =>
        inners.reduce(
          (within, inner) => withMember(within, inner, () => String(tokens)),
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
      ...configsIn(body).flatMap(({ candidateCount, candidate_count: count }) => [
        answersIn(candidateCount),
        answersIn(count),
      ]),
    ),
}

const OUTER = ['generationConfig', 'generation_config']
const INNER = ['maxOutputTokens', 'max_output_tokens']

const configsIn = (body: JsonObject): JsonObject[] => OUTER.map((name) => configIn(body, name))

function configIn(body: JsonObject, name: string): JsonObject {
  const config = body[name]
  return isObject(config) ? config : {}
}

/** Gemini generateContent. An answer may be an array: that is a stream which was not asked for as events. */
export const gemini: SharedFormat = {
  name: 'gemini',
  auth: 'x-goog-api-key',
  defaultHeaders: {},
  endpoints: [...methodsUnder('v1beta'), ...methodsUnder('v1')], // Google's clients call either version
  clientSigns: {
    paths: /^\/v1beta(?:\/|$)|:(?:generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents)$/,
    headers: ['x-goog-api-key', 'x-goog-api-client'],
  },
  requestIdHeader: 'x-request-id',
  errors: geminiErrors,
  keepAlive: KEEP_ALIVE,
  streamsArrays: true,
  answers: { generate: answers, 'count-tokens': countsLike(answers) },
  loadTranslator: async () => (await loadTranslators()).geminiTranslator,
}

/** The methods of a model, whose name is in the path, under one version of the API. */
function methodsUnder(version: string): Endpoint[] {
  const of = (
    method: string,
    more: Pick<Endpoint, 'operation' | 'streams' | 'bodyFor' | 'outputLimit' | 'bound'>,
  ): Endpoint => ({
    path: `/${version}/models/{model}:${method}`,
    format: 'gemini',
    reads: 'json',
    upstreamPath: (model) => `${modelPath(model)}:${method}${more.streams === 'always' ? '?alt=sse' : ''}`,
    ...more,
  })
  return [
    of('generateContent', { operation: operations.generate, streams: 'never', outputLimit, bound }),
    of('streamGenerateContent', { operation: operations.generate, streams: 'always', outputLimit, bound }),
    of('countTokens', { operation: operations.countTokens, streams: 'never', bodyFor: countBodyFor, bound: FREE }),
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
