import type { WireFormat } from '../types.ts'

/** What a request wants: an answer, to know how many tokens it has, or a completion as they were before chats, which is only passed through. */
export type Operation = 'generate' | 'count-tokens' | 'complete'

/** An endpoint for model requests: what clients call, and where it stands below a provider's base URL. */
export interface Endpoint {
  /** Below the base path; `{model}` where the format has the model's name in its path. */
  path: string
  format: WireFormat
  operation: Operation
  /** Does it stream: as the body's `stream` says, always, or never? */
  streams: 'asked' | 'always' | 'never'
  /** Fields that speak of what only somebody who stores answers could know; the gateway does not, and has more than one provider. */
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
