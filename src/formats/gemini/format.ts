import { isObject, type JsonObject } from '../../lib/json.ts'
import { once } from '../../lib/once.ts'
import { embeddedError } from '../embedded-error.ts'
import type { Format } from '../format.ts'
import { brokenBy, hasContent } from './broken.ts'
import { geminiEndpoints } from './endpoints.ts'
import { KEEP_ALIVE } from './keep-alive.ts'
import { watchGeminiStream } from './stream.ts'
import { geminiUsage } from './usage.ts'

/** Gemini generateContent. An answer may be an array: that is a stream which was not asked for as events. */
export const gemini: Format = {
  name: 'gemini',
  auth: 'x-goog-api-key',
  defaultHeaders: {},
  endpoints: geminiEndpoints,
  clientSigns: {
    paths: /^\/v1beta(?:\/|$)|:(?:generateContent|streamGenerateContent|countTokens)$/,
    headers: ['x-goog-api-key', 'x-goog-api-client'],
  },
  requestIdHeader: 'x-request-id',
  loadErrors: once(async () => (await import('./error.ts')).geminiErrors),
  loadModels: once(async () => (await import('./models.ts')).geminiModels),
  loadFailures: once(async () => (await import('./failures.ts')).geminiFailures),
  keepAlive: KEEP_ALIVE,
  streamsArrays: true,
  countBody: async (text, model) => (await import('./count-body.ts')).countBodyFor(text, model),
  watchStream: watchGeminiStream,
  usageOf: (answer) =>
    chunksOf(answer).reduce<ReturnType<typeof usageIn>>((last, chunk) => usageIn(chunk) ?? last, undefined),
  errorIn: (answer) => chunksOf(answer).map(errorIn).find(Boolean),
  isAnswer: ({ candidates, promptFeedback }) =>
    (Array.isArray(candidates) && candidates.length > 0) || isObject(promptFeedback),
  loadTranslator: once(async () => (await import('./translator.ts')).geminiTranslator),
}

const chunksOf = (answer: unknown): unknown[] => (Array.isArray(answer) ? answer : [answer])

const usageIn = (chunk: unknown) => (isObject(chunk) ? geminiUsage(chunk.usageMetadata) : undefined)

function errorIn(chunk: unknown) {
  if (!isObject(chunk)) return undefined
  if (!Array.isArray(chunk.candidates)) return embeddedError(chunk.error)
  const candidates: JsonObject[] = chunk.candidates.filter(isObject)
  return candidates.some(hasContent) ? undefined : candidates.map((one) => brokenBy(one, false)).find(Boolean)
}
