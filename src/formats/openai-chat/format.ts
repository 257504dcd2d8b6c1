import { createFinder } from '../../lib/bytes.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { asFirstMember, withMember } from '../../lib/json-scan.ts'
import { embeddedError } from '../errors/embedded.ts'
import { isEmptyValue, isListOf, isNormalEnd } from '../errors/empty.ts'
import {
  type AnswerReader,
  answersIn,
  fixedEndpoint,
  outputLimitIn,
  type SharedFormat,
  saidIn,
  type UsageRequest,
} from '../format.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../operations.ts'
import { chatErrors } from './errors.ts'
import { chatUsage, createChatStreamState, errorInChoices, errorOf, KEEP_ALIVE } from './stream-state.ts'

/** Most chunks have no usage, or null; they need not be parsed. */
const HAS_USAGE = /"usage"\s*:\s*\{/

const ASKING = '"stream_options":{"include_usage":true}'

/** The usage is requested by `stream_options.include_usage` and reported in a chunk without choices. */
const chatUsageRequest: UsageRequest = {
  // A value of another type is left for the provider to refuse.
  isOpen: ({ stream_options: options = null }) =>
    options === null || (isObject(options) && (options.include_usage ?? false) === false),
  ask: (text, body) =>
    body.stream_options === undefined
      ? asFirstMember(text, ASKING)
      : withMember(text, 'stream_options', (options) =>
          withMember(options?.startsWith('{') ? options : '{}', 'include_usage', () => 'true'),
        ),
  isAnswer({ data }) {
    if (!HAS_USAGE.test(data)) return false
    const chunk = tryParseJson(data)
    if (!isObject(chunk) || !isObject(chunk.usage) || chunk.error) return false
    const { choices = null } = chunk
    return choices === null || (Array.isArray(choices) && choices.length === 0)
  },
}

const answers: AnswerReader = {
  isAnswer: hasChoices,
  isEmpty: ({ choices }) =>
    isListOf(
      choices,
      (choice) => isNormalEnd(choice.finish_reason, 'stop') && !('text' in choice) && isEmptyValue(choice.message),
    ),
  errorIn: (answer) => (isObject(answer) ? embeddedError(errorInAnswer(answer)) : undefined),
  usageOf: (answer) => (isObject(answer) ? chatUsage(answer.usage) : undefined),
  watchStream: createChatStreamState,
  isOwnEvent: createFinder(['"choices"', '[DONE]']),
  gathersEvents: true,
  said: saidIn('content', 'reasoning_content', 'reasoning', 'refusal', 'transcript', 'tool_calls', 'function_call'),
}

/** The member that providers refuse without a stream, and how the usage of a stream is requested. */
const streaming = { streamMember: 'stream_options', usageRequest: chatUsageRequest }

/** How many answers are made: some servers make `best_of` and send the best `n`, of chats, too. */
const mostAnswers = ({ n, best_of: best }: JsonObject) => Math.max(answersIn(n), answersIn(best))

/** OpenAI Chat Completions. */
export const openaiChat: SharedFormat = {
  name: 'openai-chat',
  auth: 'bearer',
  defaultHeaders: {},
  endpoints: [
    fixedEndpoint('openai-chat', '/chat/completions', {
      ...streaming,
      outputLimit: outputLimitIn('max_completion_tokens', 'max_tokens'),
      bound: { answers: mostAnswers },
    }),
    fixedEndpoint('openai-chat', '/completions', {
      ...streaming,
      operation: operations.complete,
      outputLimit: outputLimitIn('max_tokens'),
      bound: { answers: (body) => mostAnswers(body) * promptsIn(body.prompt) },
    }),
  ],
  clientSigns: { headers: [] },
  requestIdHeader: 'x-request-id',
  errors: chatErrors,
  keepAlive: KEEP_ALIVE,
  answers: { generate: answers, complete: { ...answers, gathersEvents: false, said: saidIn('text') } },
  loadTranslator: async () => (await loadTranslators()).chatTranslator,
}

/** How many prompts a completion has: several texts, or several lists of tokens. */
const promptsIn = (prompt: unknown) =>
  Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1

function hasChoices({ choices }: JsonObject): boolean {
  return Array.isArray(choices) && choices.length > 0
}

/** The error of an answer, or of one of its choices. */
const errorInAnswer = (answer: JsonObject): unknown =>
  hasChoices(answer) ? errorInChoices(answer.choices) : errorOf(answer)
