import { parseProviderError } from '../errors/parse-error.ts'
import type { ClientTranslator } from '../translator.ts'
import { writeError } from './client/ai-sdk-client-error.ts'
import { parseRequest } from './client/ai-sdk-client-request.ts'
import { writeResult } from './client/ai-sdk-client-response.ts'
import { createWriter } from './client/ai-sdk-client-stream.ts'

/** Translates the AI SDK's protocol to and from the canonical format. */
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
  writeResponse: writeResult,
  createWriter,
  writeError,
  parseError: parseProviderError,
}
