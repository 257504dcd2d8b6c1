import type { WireFormat } from '../types.ts'

/**
 * What a request asks for: an answer, its number of tokens, a compaction of its conversation, or a completion in the sense of
 * `/v1/completions`, which is only passed through.
 */
export type Operation = 'generate' | 'count-tokens' | 'compact' | 'complete'

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

/** An endpoint that is always at the same path: for clients below `/v1`, for providers below the base URL. */
export const fixedEndpoint = (format: WireFormat, path: string, operation: Operation = 'generate'): Endpoint => ({
  path: `/v1${path}`,
  format,
  operation,
  streams: operation === 'count-tokens' || operation === 'compact' ? 'never' : 'asked',
  upstreamPath: () => path,
})
