import { parseProviderError } from '../errors/parse.ts'
import type { ClientTranslator } from '../translator.ts'
import { writeAnswer } from './client/answer.ts'
import { writeError } from './client/error.ts'
import { parseRequest } from './client/request.ts'
import { createWriter } from './client/stream.ts'

/** Translates requests and answers of the AI SDK's protocol to the canonical form and back. */
export const aiSdkTranslator: ClientTranslator = {
  fieldNames: {
    endUser: 'providerOptions.signalbox.user',
    stop: 'stopSequences',
    output: 'responseFormat',
    turns: 'prompt',
    cache: 'cacheControl',
  },
  showsBudgetedReasoning: true,
  parseRequest,
  writeAnswer,
  createWriter,
  writeError,
  parseError: parseProviderError,
}
