import { isObject } from '../../lib/json.ts'
import { once } from '../../lib/once.ts'
import { embeddedError } from '../embedded-error.ts'
import { fixedEndpoint } from '../endpoint.ts'
import type { Format } from '../format.ts'
import { compactionIn } from './compaction-wish.ts'
import { KEEP_ALIVE } from './keep-alive.ts'
import { watchResponseStream } from './stream.ts'
import { responseUsage } from './usage.ts'

const none: readonly string[] = []

const referencesIn = (input: unknown): string[] =>
  Array.isArray(input)
    ? input.flatMap((item: unknown) =>
        isObject(item) && item.type === 'item_reference' && typeof item.id === 'string' ? [item.id] : [],
      )
    : []

const stateful = ['previous_response_id', 'conversation', 'background']

/** OpenAI Responses. */
export const openaiResponses: Format = {
  name: 'openai-responses',
  auth: 'bearer',
  defaultHeaders: {},
  endpoints: [
    { ...fixedEndpoint('openai-responses', '/responses'), stateful },
    { ...fixedEndpoint('openai-responses', '/responses/input_tokens', 'count-tokens'), stateful },
    { ...fixedEndpoint('openai-responses', '/responses/compact', 'compact'), stateful },
  ],
  clientSigns: { paths: /^\/v1\/responses/, headers: [] },
  requestIdHeader: 'x-request-id',
  loadErrors: once(async () => (await import('./error.ts')).responseErrors),
  loadModels: once(async () => (await import('../openai-models.ts')).openaiModels),
  loadFailures: once(async () => (await import('./failures.ts')).responseFailures),
  keepAlive: KEEP_ALIVE,
  streamMember: 'stream_options',
  watchStream: watchResponseStream,
  usageOf: (answer) => (isObject(answer) ? responseUsage(answer.usage) : undefined),
  errorIn: (answer) =>
    isObject(answer) && (answer.status === 'failed' || !Array.isArray(answer.output))
      ? embeddedError(answer.error)
      : undefined,
  isAnswer: ({ output, status }) => Array.isArray(output) && (output.length > 0 || typeof status === 'string'),
  referencesIn: ({ text, body }) => (text.includes('"item_reference"') ? referencesIn(body.input) : none),
  compactionIn,
  loadTranslator: once(async () => (await import('./translator.ts')).responsesTranslator),
}
