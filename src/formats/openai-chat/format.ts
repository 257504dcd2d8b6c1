import { isObject, type JsonObject } from '../../lib/json.ts'
import { once } from '../../lib/once.ts'
import { embeddedError } from '../embedded-error.ts'
import { fixedEndpoint } from '../endpoint.ts'
import type { Format } from '../format.ts'
import { KEEP_ALIVE } from './keep-alive.ts'
import { errorInChoices, errorOf, watchChatStream } from './stream.ts'
import { chatUsage } from './usage.ts'

const hasChoices = ({ choices }: JsonObject) => Array.isArray(choices) && choices.length > 0

/** The answer's own error, or that of a choice. */
const errorInAnswer = (answer: JsonObject): unknown =>
  hasChoices(answer) ? errorInChoices(answer.choices) : errorOf(answer)

/** OpenAI Chat Completions. */
export const openaiChat: Format = {
  name: 'openai-chat',
  auth: 'bearer',
  defaultHeaders: {},
  endpoints: [
    fixedEndpoint('openai-chat', '/chat/completions'),
    fixedEndpoint('openai-chat', '/completions', 'complete'),
  ],
  clientSigns: { headers: [] },
  requestIdHeader: 'x-request-id',
  loadErrors: once(async () => (await import('./error.ts')).chatErrors),
  loadModels: once(async () => (await import('../openai-models.ts')).openaiModels),
  loadFailures: once(async () => (await import('./failures.ts')).chatFailures),
  keepAlive: KEEP_ALIVE,
  streamMember: 'stream_options',
  watchStream: watchChatStream,
  usageOf: (answer) => (isObject(answer) ? chatUsage(answer.usage) : undefined),
  errorIn: (answer) => (isObject(answer) ? embeddedError(errorInAnswer(answer)) : undefined),
  isAnswer: hasChoices,
  loadUsageQuestion: once(async () => (await import('./usage-question.ts')).chatUsageQuestion),
  loadTranslator: once(async () => (await import('./translator.ts')).chatTranslator),
}
