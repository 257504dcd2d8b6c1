import type { Exchange } from '../lib/exchange.ts'
import type { WireFormat } from '../types.ts'

/**
 * The format in which the caller of `GET /v1/models` reads the list: Google's clients send `x-goog-api-key` or `x-goog-api-client`,
 * Anthropic's `anthropic-version`; all others get OpenAI's shape (spec.md, Models).
 */
export function modelsFormat(exchange: Pick<Exchange, 'header'>): WireFormat {
  const has = (name: string) => exchange.header(name) !== undefined
  if (has('x-goog-api-key') || has('x-goog-api-client')) return 'gemini'
  return has('anthropic-version') ? 'anthropic-messages' : 'openai-chat'
}

/** The path of the model listing, which any page may read (spec.md, Models). */
export const isModelList = (path: string): boolean => /^\/v1\/models\/*$/.test(path)

/** The format in which a caller under `/v1` reads errors: by the path, or by the headers where all vendors share a path. */
export function callerFormat(path: string, exchange: Pick<Exchange, 'header'>): WireFormat {
  if (
    path === '/v1beta' ||
    path.startsWith('/v1beta/') ||
    /:(generateContent|streamGenerateContent|countTokens)$/.test(path)
  )
    return 'gemini'
  if (isModelList(path) || path.startsWith('/v1/models/')) return modelsFormat(exchange)
  if (/^\/v1\/(v1\/)?messages/.test(path)) return 'anthropic-messages' // also with /v1 twice, a common mistake
  return path.startsWith('/v1/responses') ? 'openai-responses' : 'openai-chat'
}
