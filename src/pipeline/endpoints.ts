import type { WireFormat } from '../types.ts'

/** An endpoint for model requests: what clients call, and where it stands below a provider's base URL. */
export interface Endpoint {
  /** Below the base path. */
  path: string
  format: WireFormat
  upstreamPath: string
  /** Does it stream when the body says `"stream": true`? */
  streams: boolean
}

export const endpoints: readonly Endpoint[] = [
  { path: '/v1/chat/completions', format: 'openai-chat', upstreamPath: '/chat/completions', streams: true },
  { path: '/v1/messages', format: 'anthropic-messages', upstreamPath: '/messages', streams: true },
  {
    path: '/v1/messages/count_tokens',
    format: 'anthropic-messages',
    upstreamPath: '/messages/count_tokens',
    streams: false,
  },
]
