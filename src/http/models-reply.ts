import type { Kind, ModelEntry, WireFormat } from '../types.ts'
import { anthropicModel, anthropicModels } from './models-anthropic.ts'
import { googleModel, googleModels } from './models-google.ts'

/** The list as the caller's format has it (OpenAI's: spec.md, Models). Throws `INVALID_REQUEST` on invalid paging parameters. */
export function modelsBody(
  format: WireFormat,
  entries: readonly ModelEntry[],
  of: { kinds: readonly Kind[]; query: string },
): object {
  if (format === 'gemini') return googleModels(entries, of.kinds, new URLSearchParams(of.query))
  if (format === 'anthropic-messages') return anthropicModels(entries, new URLSearchParams(of.query))
  return { object: 'list', data: entries }
}

/** One model as the caller's format has it. */
export function modelBody(format: WireFormat, entry: ModelEntry, kinds: readonly Kind[]): object {
  if (format === 'gemini') return googleModel(entry, kinds)
  return format === 'anthropic-messages' ? anthropicModel(entry) : entry
}
