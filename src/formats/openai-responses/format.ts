import { createFinder } from '../../lib/bytes.ts'
import { isObject } from '../../lib/json.ts'
import { embeddedError } from '../errors/embedded.ts'
import { isEmptyValue, isListOf, isNormalEnd } from '../errors/empty.ts'
import {
  type AnswerReader,
  countsLike,
  type Endpoint,
  FREE,
  fixedEndpoint,
  outputLimitIn,
  type SharedFormat,
} from '../format.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../operations.ts'
import { responseErrors } from './errors.ts'
import { compactionIn, createResponseStreamState, KEEP_ALIVE, responseUsage } from './stream-state.ts'

/** The fields that refer to what a provider has stored. */
const stateful = ['previous_response_id', 'conversation', 'background']

const answers: AnswerReader = {
  isAnswer: ({ output, status }) => Array.isArray(output) && (output.length > 0 || typeof status === 'string'),
  isEmpty: ({ status, output }) =>
    isNormalEnd(status, 'completed') &&
    isListOf(output, ({ type, content }) => type === 'message' && isEmptyValue(content)),
  errorIn: (answer) =>
    isObject(answer) && (answer.status === 'failed' || !Array.isArray(answer.output))
      ? embeddedError(answer.error)
      : undefined,
  usageOf: (answer) => (isObject(answer) ? responseUsage(answer.usage) : undefined),
  watchStream: createResponseStreamState,
  isOwnEvent: createFinder(['"response.', '[DONE]']),
  gathersEvents: true,
  said: { whole: ['text', 'arguments', 'input', 'refusal'], streamed: ['delta'] },
}

/** What requests of all operations have in common. */
const shared: Pick<Endpoint, 'stateful' | 'streamMember' | 'referencesIn'> = {
  stateful,
  streamMember: 'stream_options',
  referencesIn: ({ text, body }) => (text.includes('"item_reference"') ? referencesIn(body.input) : []),
}

/** The most tokens of the instructions that OpenAI gives to a compaction; 110 are recorded. */
const COMPACTION_PROMPT = 150

/** OpenAI Responses. */
export const openaiResponses: SharedFormat = {
  name: 'openai-responses',
  auth: 'bearer',
  defaultHeaders: {},
  endpoints: [
    fixedEndpoint('openai-responses', '/responses', {
      ...shared,
      compactionIn,
      outputLimit: outputLimitIn('max_output_tokens'),
    }),
    fixedEndpoint('openai-responses', '/responses/input_tokens', {
      ...shared,
      operation: operations.countTokens,
      streams: 'never',
      bound: FREE,
    }),
    fixedEndpoint('openai-responses', '/responses/compact', {
      ...shared,
      operation: operations.compact,
      streams: 'never',
      bound: { inputTokens: (_, estimate) => estimate() + COMPACTION_PROMPT },
    }),
  ],
  clientSigns: { paths: /^\/v1\/responses/, headers: [] },
  requestIdHeader: 'x-request-id',
  errors: responseErrors,
  keepAlive: KEEP_ALIVE,
  answers: {
    generate: answers,
    'count-tokens': countsLike(answers),
    compact: { ...answers, gathersEvents: false },
  },
  loadTranslator: async () => (await loadTranslators()).responsesTranslator,
}

/** The ids of the `item_reference`s in an input. */
const referencesIn = (input: unknown): string[] =>
  Array.isArray(input)
    ? input.flatMap((item: unknown) =>
        isObject(item) && item.type === 'item_reference' && typeof item.id === 'string' ? [item.id] : [],
      )
    : []
