import type { WireFormat } from '../types.ts'

/**
 * What a request asks for: an answer, its number of tokens, or a completion in the sense of `/v1/completions`, which is only passed
 * through.
 */
export type Operation = 'generate' | 'count-tokens' | 'complete'

/** An endpoint for model requests: its path for clients, and its path below a provider's base URL. */
export interface Endpoint {
  /** Below the base path; `{model}` where the format has the model's name in its path. */
  path: string
  format: WireFormat
  operation: Operation
  /** When it streams: as the body's `stream` says, always, or never. */
  streams: 'asked' | 'always' | 'never'
  /** Fields that refer to answers stored at a provider, which are refused: the gateway stores none, and has several providers. */
  stateful?: readonly string[]
  /** Its path below a provider's base URL, with its query. */
  upstreamPath(model: string): string
}

const fixed =
  (format: WireFormat, operation: Operation = 'generate') =>
  (path: string): Endpoint => ({
    path: `/v1${path}`,
    format,
    operation,
    streams: operation === 'count-tokens' ? 'never' : 'asked',
    upstreamPath: () => path,
  })

const google = (version: string): Endpoint[] => {
  const of = (method: string, more: Pick<Endpoint, 'operation' | 'streams'>): Endpoint => ({
    path: `/${version}/models/{model}:${method}`,
    format: 'gemini',
    upstreamPath: (model) => `/models/${encodeURI(model)}:${method}${more.streams === 'always' ? '?alt=sse' : ''}`,
    ...more,
  })
  return [
    of('generateContent', { operation: 'generate', streams: 'never' }),
    of('streamGenerateContent', { operation: 'generate', streams: 'always' }),
    of('countTokens', { operation: 'count-tokens', streams: 'never' }),
  ]
}

const stateful = ['previous_response_id', 'conversation', 'background']

/** All endpoints of model requests; src/http/ serves each of them. */
export const endpoints: readonly Endpoint[] = [
  fixed('openai-chat')('/chat/completions'),
  fixed('openai-chat', 'complete')('/completions'),
  { ...fixed('openai-responses')('/responses'), stateful },
  { ...fixed('openai-responses', 'count-tokens')('/responses/input_tokens'), stateful },
  fixed('anthropic-messages')('/messages'),
  fixed('anthropic-messages', 'count-tokens')('/messages/count_tokens'),
  ...google('v1beta'),
  ...google('v1'),
]
