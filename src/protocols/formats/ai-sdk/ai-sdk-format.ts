import { type Endpoint, type Format, toContentFields } from '../format.ts'
import { COMMENT_KEEP_ALIVE } from '../keep-alive-texts.ts'
import { loadFormatErrors } from '../load-format-errors.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../model-operations.ts'

/** The protocol versions, which are part of the paths: AI SDK 7 uses `/v4/ai`, and AI SDK 6 uses `/v3/ai`. */
export const PROTOCOL_VERSIONS = ['4', '3'] as const

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
  upstreamPath: () => '', // requests are always translated, so the path is never forwarded
  limitsOutput: true,
})

/** The protocol of `@ai-sdk/gateway`, which is part of every AI SDK installation. It transports model call options and response parts. */
export const aiSdk: Format = {
  name: 'ai-sdk',
  endpoints: PROTOCOL_VERSIONS.map(createEndpoint),
  clientDetection: { headers: [], paths: /^\/v[34]\/ai\// },
  requestIdHeader: 'x-request-id',
  loadErrors: async () => (await loadFormatErrors()).aiSdkErrors,
  keepAlive: COMMENT_KEEP_ALIVE,
  contentFields: { ...toContentFields('text', 'input'), streamed: ['delta'] },
  describesAttempts: true,
  loadTranslator: async () => (await loadTranslators()).loadAiSdkTranslator(),
}
