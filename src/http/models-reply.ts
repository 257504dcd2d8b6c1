import type { Kind, ModelEntry, WireFormat } from '../types.ts'
import { anthropicModel, anthropicModels } from './models-anthropic.ts'
import { googleModel, googleModels } from './models-google.ts'

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
