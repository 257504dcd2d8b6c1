import { isObject } from '../../lib/json.ts'
import { embeddedError } from '../errors/embedded.ts'
import { type Format, fixedEndpoint } from '../format.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../operations.ts'
import { responseErrors } from './errors.ts'
import { compactionIn, createResponseStreamState, KEEP_ALIVE, responseUsage } from './stream-state.ts'

/** The fields that refer to what a provider has stored. */
const stateful = ['previous_response_id', 'conversation', 'background']

/** OpenAI Responses. */
export const openaiResponses: Format = {
  name: 'openai-responses',
  auth: 'bearer',
  defaultHeaders: {},
  endpoints: [
    { ...fixedEndpoint('openai-responses', '/responses'), stateful },
    { ...fixedEndpoint('openai-responses', '/responses/input_tokens', operations.countTokens), stateful },
    { ...fixedEndpoint('openai-responses', '/responses/compact', operations.compact), stateful },
  ],
  clientSigns: { paths: /^\/v1\/responses/, headers: [] },
  requestIdHeader: 'x-request-id',
  errors: responseErrors,
  keepAlive: KEEP_ALIVE,
  streamMember: 'stream_options',
  watchStream: createResponseStreamState,
  usageOf: (answer) => (isObject(answer) ? responseUsage(answer.usage) : undefined),
  errorIn: (answer) =>
    isObject(answer) && (answer.status === 'failed' || !Array.isArray(answer.output))
      ? embeddedError(answer.error)
      : undefined,
  isAnswer: ({ output, status }) => Array.isArray(output) && (output.length > 0 || typeof status === 'string'),
  referencesIn: ({ text, body }) => (text.includes('"item_reference"') ? referencesIn(body.input) : []),
  compactionIn,
  loadTranslator: async () => (await loadTranslators()).responsesTranslator,
}

/** The ids of the `item_reference`s in an input. */
const referencesIn = (input: unknown): string[] =>
  Array.isArray(input)
    ? input.flatMap((item: unknown) =>
        isObject(item) && item.type === 'item_reference' && typeof item.id === 'string' ? [item.id] : [],
      )
    : []
