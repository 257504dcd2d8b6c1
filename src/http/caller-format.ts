import type { Exchange } from '../lib/exchange.ts'
import type { WireFormat } from '../types.ts'

/**
 * All three vendors' clients ask for `GET /v1/models`. Google's say so by `x-goog-api-key` or `x-goog-api-client`, Anthropic's by
 * `anthropic-version`; everybody else reads OpenAI's shape, which is the specification's.
 */
export function modelsFormat(exchange: Pick<Exchange, 'header'>): WireFormat {
  const has = (name: string) => exchange.header(name) !== undefined
  if (has('x-goog-api-key') || has('x-goog-api-client')) return 'gemini'
  return has('anthropic-version') ? 'anthropic-messages' : 'openai-chat'
}

/** The path of the model listing, which any page may read (spec.md, Models). */
export const isModelList = (path: string): boolean => /^\/v1\/models\/*$/.test(path)

/** The format in which a caller under `/v1` reads errors: by the path, and where all vendors' clients share it by their headers. */
export function callerFormat(path: string, exchange: Pick<Exchange, 'header'>): WireFormat {
  if (
    path === '/v1beta' ||
    path.startsWith('/v1beta/') ||
    /:(generateContent|streamGenerateContent|countTokens)$/.test(path)
  )
    return 'gemini'
  if (isModelList(path) || path.startsWith('/v1/models/')) return modelsFormat(exchange)
  if (/^\/v1\/(v1\/)?messages/.test(path)) return 'anthropic-messages' // with the slip of one /v1 too many
  return path.startsWith('/v1/responses') ? 'openai-responses' : 'openai-chat'
}
