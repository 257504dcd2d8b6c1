import type { Exchange } from '../lib/exchange.ts'
import type { Kind, ModelEntry, WireFormat } from '../types.ts'
import { anthropicModel, anthropicModels } from './models-anthropic.ts'
import { googleModel, googleModels } from './models-google.ts'

/**
 * All three vendors' clients ask for `GET /v1/models`. Google's say so by `x-goog-api-key` or `x-goog-api-client`, Anthropic's by
 * `anthropic-version`; everybody else reads OpenAI's shape, which is the specification's.
 */
export function modelsFormat(exchange: Pick<Exchange, 'header'>): WireFormat {
  const has = (name: string) => exchange.header(name) !== undefined
  if (has('x-goog-api-key') || has('x-goog-api-client')) return 'gemini'
  return has('anthropic-version') ? 'anthropic-messages' : 'openai-chat'
}

/**
 * The entries listed for `kinds` as the caller's format has them (spec.md, Models, for OpenAI's). Throws `INVALID_REQUEST` on paging
 * parameters of that format that make no sense.
 */
export function modelsBody(
  format: WireFormat,
  entries: readonly ModelEntry[],
  of: { kinds: readonly Kind[]; query: string },
): object {
  if (format === 'gemini') return googleModels(entries, of.kinds, new URLSearchParams(of.query))
  if (format === 'anthropic-messages') return anthropicModels(entries, new URLSearchParams(of.query))
  return { object: 'list', data: entries }
}

/** One entry as the caller's format has it. */
export function modelBody(format: WireFormat, entry: ModelEntry, kinds: readonly Kind[]): object {
  if (format === 'gemini') return googleModel(entry, kinds)
  return format === 'anthropic-messages' ? anthropicModel(entry) : entry
}
