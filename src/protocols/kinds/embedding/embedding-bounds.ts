/* The maximum total tokens that vendors accept in one call. If a vendor doesn't document its limit, the number comes from its error messages. */

/** https://platform.openai.com/docs/api-reference/embeddings/create */
export const MAX_OPENAI_TOKENS = 300_000

/** Mistral rejects more than 16,384 tokens with "Too many tokens overall, split into more batches". */
export const MAX_MISTRAL_TOKENS = 16_000

/** The context window of Cohere's newest model. Older models truncate each string much earlier. */
export const MAX_COHERE_TOKENS = 128_000

/** Documented for Vertex AI; LangChain's clients also apply it to the Gemini API. */
export const MAX_GOOGLE_TOKENS = 20_000

/** Returns a Voyage model's limit: https://docs.voyageai.com/docs/embeddings */
export function getVoyageTokens(model: string): number {
  if (/voyage-(?:3(?:\.5)?|4)-lite$/.test(model)) return 1_000_000
  return /voyage-(?:2|3|3\.5|4)$/.test(model) ? 320_000 : 120_000
}

/** Returns a model's limit on a server that forwards requests to the model's vendor, or that enforces OpenAI's limit. */
export function getModelTokens({ model }: { model: string }): number {
  if (/mistral-embed|codestral-embed/.test(model)) return MAX_MISTRAL_TOKENS
  if (/gemini-embedding|text-(?:multilingual-)?embedding-\d{3}/.test(model)) return MAX_GOOGLE_TOKENS
  if (/voyage-/.test(model)) return getVoyageTokens(model)
  return /(?:^|\/)embed-(?:v|english|multilingual)/.test(model) ? MAX_COHERE_TOKENS : MAX_OPENAI_TOKENS
}
