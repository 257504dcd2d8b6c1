import { type Endpoint, type Format, type OutputLimit, outputLimitIn, saidIn } from '../format.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../operations.ts'
import { aiSdkErrors, KEEP_ALIVE } from './errors.ts'
import { thinkingBudgetOf } from './fields.ts'

/** The versions of the protocol, and so of its paths: AI SDK 7 asks below `/v4/ai`, AI SDK 6 below `/v3/ai`. */
export const PROTOCOLS = ['4', '3'] as const

const answerLimit = outputLimitIn('maxOutputTokens')

const outputLimit: OutputLimit = {
  ...answerLimit,
  of(body) {
    const limit = answerLimit.of(body)
    return limit === undefined ? undefined : limit + thinkingBudgetOf(body)
  },
}

const languageModel = (version: string): Endpoint => ({
  path: `/v${version}/ai/language-model`,
  format: 'ai-sdk',
  operation: operations.generate,
  reads: 'json',
  streams: 'asked',
  version,
  headers: {
    model: 'ai-language-model-id',
    stream: 'ai-language-model-streaming',
    version: 'ai-language-model-specification-version',
  },
  upstreamPath: () => '', // always translated
  outputLimit,
})

/** The protocol of `@ai-sdk/gateway`, which every installation of the AI SDK contains: call options of its models, and parts of their answers. */
export const aiSdk: Format = {
  name: 'ai-sdk',
  endpoints: PROTOCOLS.map(languageModel),
  clientSigns: { headers: [], paths: /^\/v[34]\/ai\// },
  requestIdHeader: 'x-request-id',
  errors: aiSdkErrors,
  keepAlive: KEEP_ALIVE,
  said: { ...saidIn('text', 'input'), streamed: ['delta'] },
  tellsCourse: true,
  loadTranslator: async () => (await loadTranslators()).loadAiSdkTranslator(),
}
