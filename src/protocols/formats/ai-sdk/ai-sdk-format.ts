import { createOutputLimit, type Endpoint, type Format, type OutputLimit, toContentFields } from '../format.ts'
import { loadFormatErrors } from '../load-format-errors.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../model-operations.ts'
import { KEEP_ALIVE, readThinkingBudget } from './ai-sdk-fields.ts'

/** The versions of the protocol, which are part of its paths: AI SDK 7 uses `/v4/ai`, and AI SDK 6 uses `/v3/ai`. */
export const PROTOCOLS = ['4', '3'] as const

const answerLimit = createOutputLimit('maxOutputTokens')

const outputLimit: OutputLimit = {
  ...answerLimit,
  get(body) {
    const limit = answerLimit.get(body)
    return limit === undefined ? undefined : limit + readThinkingBudget(body)
  },
}

const createEndpoint = (version: string): Endpoint => ({
  path: `/v${version}/ai/language-model`,
  format: 'ai-sdk',
  operation: operations.generate,
  bodyType: 'json',
  streams: 'requested',
  version,
  headers: {
    model: 'ai-language-model-id',
    stream: 'ai-language-model-streaming',
    version: 'ai-language-model-specification-version',
  },
  upstreamPath: () => '', // always translated
  outputLimit,
})

/** The protocol of `@ai-sdk/gateway`, which is part of every AI SDK installation. It sends the call options of models and the parts of their responses. */
export const aiSdk: Format = {
  name: 'ai-sdk',
  endpoints: PROTOCOLS.map(createEndpoint),
  clientDetection: { headers: [], paths: /^\/v[34]\/ai\// },
  requestIdHeader: 'x-request-id',
  loadErrors: async () => (await loadFormatErrors()).aiSdkErrors,
  keepAlive: KEEP_ALIVE,
  contentFields: { ...toContentFields('text', 'input'), streamed: ['delta'] },
  describesAttempts: true,
  loadTranslator: async () => (await loadTranslators()).loadAiSdkTranslator(),
}
