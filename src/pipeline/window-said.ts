/** The context window, in tokens, that a provider names when it refuses what does not fit into it; `undefined` when it names none. */
export function windowSaid(message: string): number | undefined {
  for (const words of WINDOW) {
    const [, figure] = words.exec(message) ?? []
    if (figure !== undefined) return Number(figure.replaceAll(',', ''))
  }
  return undefined
}

/** The limit, never the size of the request that stands beside it. */
const WINDOW = [
  '(?:context|prompt|model|input) (?:length|window|size|limit) (?:is|of)(?: only)? #', // OpenAI, vLLM, xAI, LM Studio
  'tokens > # maximum', // Anthropic
  'context limit: [^>]{0,60}> ?#', // Anthropic, counting what is to be answered
  'tokens allowed(?: is)?:? \\(?#', // Google
  'with # maximum context', // Mistral
  'context size \\(#', // llama.cpp
  'token limit(?: is| of)?:? #', // Moonshot
  'exceeds? the limit of #', // GitHub
  'must be <= #', // Together
  'cannot exceed #', // Cohere
  'length should be \\[\\d+, ?#', // Alibaba
  'max size: # tokens', // GitHub
].map((words) => new RegExp(words.replace('#', '(\\d{1,3}(?:,\\d{3})+|\\d{3,9})\\b'), 'i'))
