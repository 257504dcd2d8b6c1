import { definitionOf, namesOf } from '../providers/names.ts'
import type { Kind } from '../types.ts'
import type { Route } from './group.ts'
import type { RouteTable } from './route-table.ts'

/** What models of the kinds that are not served are for. */
const PURPOSES: Partial<Record<Kind, string>> = {
  image: 'images',
  tts: 'speech',
  stt: 'transcription',
  embedding: 'embeddings',
  imageToText: 'reading images',
  webSearch: 'web search',
  webFetch: 'fetching pages',
}

/** A sentence about the kind of a model, or nothing for a language model. */
export function kindSentence(name: string, kind: Kind | undefined): string {
  const purpose = kind && PURPOSES[kind]
  return purpose ? `"${name}" is a model for ${purpose}, and this gateway serves language models.` : ''
}

/** The kind of a target's model, as the catalog or a custom model has it. */
export async function kindOfTarget(
  { connection, provider, model }: Pick<Route['target'], 'connection' | 'provider' | 'model'>,
  { catalog, customModels }: Pick<RouteTable, 'catalog' | 'customModels'>,
): Promise<Kind | undefined> {
  const known = definitionOf(catalog, provider)?.models?.find(({ id }) => id === model)
  if (known) return known.type
  const names: string[] = Object.values(namesOf(catalog, connection))
  const custom = await customModels().catch(() => []) // a remark is not worth a failure
  return custom.find(({ id, providerAlias }) => id.trim() === model && names.includes(providerAlias))?.type
}
