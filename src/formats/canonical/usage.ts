/** Tokens of one answer. Input counts include what was read from or written to a cache, output counts include reasoning. */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  cacheReadTokens?: number
  cacheWriteTokens?: number
  reasoningTokens?: number
}
