import { gatewayError } from '../errors.ts'
import { NAME_PREFIX } from '../formats/gemini/models.ts'
import { didYouMean } from '../lib/did-you-mean.ts'
import type { UpstreamFetch } from '../lib/exchange.ts'
import { nearest } from '../lib/nearest.ts'
import { kinds } from '../lib/unions.ts'
import type { Asked } from '../listing/base-ids.ts'
import type { Listing } from '../listing/listing.ts'
import type { Kind, ModelEntry } from '../types.ts'

const LLM: readonly Kind[] = ['llm']
const OTHERS = kinds.filter((kind) => kind !== 'llm')

/**
 * The entry of a model id, which may have Google's prefix `models/`, and the kinds among which it was found: `llm` first, then all others.
 * Rejects with `MODEL_NOT_FOUND`, naming the nearest ids.
 */
export async function findModel(
  listing: Listing,
  id: string,
  upstream: UpstreamFetch,
): Promise<{ entry: ModelEntry; kinds: readonly Kind[] }> {
  const bare = id.startsWith(NAME_PREFIX) ? id.slice(NAME_PREFIX.length) : id
  const seen: ModelEntry[][] = []
  const asked: Asked = new Map() // a slow upstream is waited for once
  for (const kinds of [LLM, OTHERS]) {
    const entries = await listing.list(kinds, upstream, asked)
    const entry = entries.find((one) => one.id === id) ?? entries.find((one) => one.id === bare)
    if (entry) return { entry, kinds }
    seen.push(entries)
  }
  const names = seen.flat().map((one) => one.id)
  const hint = didYouMean(nearest(bare, names)) ?? 'GET /v1/models lists all of them.'
  throw gatewayError('MODEL_NOT_FOUND', { message: `The model "${id}" does not exist. ${hint}` })
}
