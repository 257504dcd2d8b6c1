import { createFinder } from '../../../lib/bytes.ts'
import { isObject } from '../../../lib/json.ts'
import { once } from '../../../lib/promises.ts'
import { hasOnlyItems, isEmptyValue, isNormalEnd } from '../errors/empty-responses.ts'
import { toEmbeddedError } from '../errors/load-error-readers.ts'
import {
  createFixedEndpoint,
  createOutputLimit,
  type Endpoint,
  FREE,
  type ResponseReader,
  type SharedFormat,
  toCountReader,
} from '../format.ts'
import { loadFormatErrors } from '../load-format-errors.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../model-operations.ts'
import { listReferences } from './responses-references.ts'
import { KEEP_ALIVE, parseResponseUsage, readCompactionMode } from './responses-response.ts'

/** Fields that refer to data stored by a provider. */
const stateful = ['previous_response_id', 'conversation', 'background']

const answers: ResponseReader = {
  isAnswer: ({ output, status }) => Array.isArray(output) && (output.length > 0 || typeof status === 'string'),
  isEmpty: ({ status, output }) =>
    isNormalEnd(status, 'completed') &&
    hasOnlyItems(output, ({ type, content }) => type === 'message' && isEmptyValue(content)),
  getError: (response) =>
    isObject(response) && (response.status === 'failed' || !Array.isArray(response.output))
      ? toEmbeddedError(response.error)
      : undefined,
  getUsage: (response) => (isObject(response) ? parseResponseUsage(response.usage) : undefined),
  loadWatcher: once(async () => (await import('./responses-stream-state.ts')).createResponseStreamState),
  isOwnEvent: createFinder(['"response.', '[DONE]']),
  assemblesEvents: true,
  contentFields: {
    whole: ['text', 'arguments', 'input', 'refusal', 'code', 'action', 'operation', 'encrypted_content'],
    streamed: ['delta'],
    findRepeatedItems: ({ type, item, response }) =>
      type === 'response.output_item.done'
        ? { items: item, isComplete: false }
        : isObject(response)
          ? { items: response.output, isComplete: true }
          : undefined,
  },
}

/** Properties that all endpoints share. */
const shared: Pick<Endpoint, 'stateful' | 'streamMember' | 'getReferences'> = {
  stateful,
  streamMember: 'stream_options',
  getReferences: ({ body }) => listReferences(body.input),
}

/** The maximum number of tokens in OpenAI's compaction instructions. Recorded responses count 110. */
const COMPACTION_PROMPT = 150

/** OpenAI Responses. */
export const openaiResponses: SharedFormat = {
  name: 'openai-responses',
  auth: 'bearer',
  defaultHeaders: {},
  endpoints: [
    createFixedEndpoint('openai-responses', '/responses', {
      ...shared,
      getCompactionMode: readCompactionMode,
      outputLimit: createOutputLimit('max_output_tokens'),
    }),
    createFixedEndpoint('openai-responses', '/responses/input_tokens', {
      ...shared,
      operation: operations.countTokens,
      streams: 'never',
      bound: FREE,
    }),
    createFixedEndpoint('openai-responses', '/responses/compact', {
      ...shared,
      operation: operations.compact,
      streams: 'never',
      bound: { inputTokens: (_, estimate) => estimate() + COMPACTION_PROMPT },
    }),
  ],
  clientDetection: { paths: /^\/v1\/responses/, headers: [] },
  requestIdHeader: 'x-request-id',
  loadErrors: async () => (await loadFormatErrors()).responseErrors,
  keepAlive: KEEP_ALIVE,
  answers: {
    generate: answers,
    'count-tokens': toCountReader(answers),
    compact: { ...answers, assemblesEvents: false },
  },
  loadTranslator: async () => (await loadTranslators()).responsesTranslator,
}
