/** Reads the context window, in tokens, from a context overflow message. Returns `undefined` if the message doesn't contain it. */
export function readContextWindow(message: string): number | undefined {
  for (const pattern of WINDOW_PATTERNS) {
    const [, digits] = pattern.exec(message) ?? []
    if (digits !== undefined) return Number(digits.replaceAll(',', ''))
  }
  return undefined
}

/** The patterns for the limit. They must not match the request size that appears next to it. */
const WINDOW_PATTERNS = [
  '(?:context|prompt|model|input) (?:length|window|size|limit) (?:is|of)(?: only)? #', // OpenAI, vLLM, xAI, LM Studio
  'tokens > # maximum', // Anthropic
  'context limit: [^>]{0,60}> ?#', // Anthropic, including response tokens
  'tokens allowed(?: is)?:? \\(?#', // Google
  'with # maximum context', // Mistral
  'context size \\(#', // llama.cpp
  'token limit(?: is| of)?:? #', // Moonshot
  'exceeds? the limit of #', // GitHub
  'must be <= #', // Together
  'cannot exceed #', // Cohere
  'length should be \\[\\d+, ?#', // Alibaba
  'max size: # tokens', // GitHub
].map((template) => new RegExp(template.replace('#', '(\\d{1,3}(?:,\\d{3})+|\\d{3,9})\\b'), 'i'))
