import { gatewayError } from '../../errors.ts'
import type { Endpoint } from '../../protocols/formats/format.ts'
import { findEndpoint } from '../../protocols/kinds/kinds.ts'
import { getCatalogModel } from '../../protocols/providers/catalog-model.ts'
import { getDefinition, getProviderNames } from '../../protocols/providers/provider-names.ts'
import { getTargetName, type ProviderTarget } from '../../protocols/providers/target.ts'
import type { Catalog, CustomModel, Kind } from '../../types.ts'
import type { RouteTarget } from './group.ts'
import type { RouteTable } from './route-table.ts'

/** The purpose of each kind of model. */
export const PURPOSE_BY_KIND: Readonly<Record<Kind, string>> = {
  llm: 'chat',
  image: 'images',
  tts: 'speech',
  stt: 'transcription',
  embedding: 'embeddings',
  imageToText: 'reading images',
  webSearch: 'web search',
  webFetch: 'fetching pages',
  rerank: 'reranking',
  moderation: 'moderation',
}

/** Returns the end of a sentence about a model, which names the endpoint for its kind. */
export function suggestEndpoint(kind: Kind): string {
  const endpoint = findEndpoint(kind)
  return endpoint ? `. Use POST ${endpoint.path}.` : ", which this gateway doesn't support yet."
}

export type TargetModel = Pick<RouteTarget, 'connection' | 'provider' | 'model'>
export type ModelSources = Pick<RouteTable, 'catalog' | 'loadCustomModels'>

export function findKind(
  target: TargetModel,
  catalog: Catalog,
  customModels: readonly CustomModel[],
): Kind | undefined {
  const catalogKind = findKindInCatalog(target, catalog)
  if (catalogKind || customModels.length === 0) return catalogKind
  const names: string[] = Object.values(getProviderNames(catalog, target.connection))
  return customModels.find(({ id, providerAlias }) => id.trim() === target.model && names.includes(providerAlias))?.type
}

function findKindInCatalog(target: TargetModel, catalog: RouteTable['catalog']): Kind | undefined {
  const catalogModel = getCatalogModel(catalog, target)
  if (catalogModel) return catalogModel.type ?? 'llm'
  const { searchConfig, fetchConfig } = getDefinition(catalog, target.provider) ?? {}
  if (searchConfig && target.model === 'search') return 'webSearch'
  return fetchConfig && target.model === 'fetch' ? 'webFetch' : undefined
}

export type RequestedEndpoint = Pick<Endpoint, 'operation' | 'path'>

export const supportsKind = ({ operation }: RequestedEndpoint, kind: Kind): boolean =>
  operation.kind === kind || (operation.alsoServes?.includes(kind) ?? false)

/**
 * Returns whether only another endpoint supports the kind. Requests for a kind that no endpoint supports yet are sent to chat providers: some of them
 * respond with images or speech, and the others reject the request.
 */
export const needsOtherEndpoint = (endpoint: RequestedEndpoint, kind: Kind): boolean =>
  !supportsKind(endpoint, kind) && (findEndpoint(kind) !== undefined || endpoint.operation.kind !== 'llm')

/**
 * Throws an `INVALID_REQUEST` that names the right endpoint if the target's model is known to be of a kind that the endpoint doesn't support. Some
 * vendors also offer models of several kinds at their chat endpoint.
 */
export function requireKind(
  { call: { endpoint }, table }: { call: { endpoint: Endpoint }; table: ModelSources },
  target: RouteTarget,
  customModels: readonly CustomModel[],
): void {
  const kind = findKind(target, table.catalog, customModels)
  if (kind === undefined || !needsOtherEndpoint(endpoint, kind) || supportsKindInChat(endpoint, kind, target)) return
  if (kind === 'llm' && endpoint.operation.isServedBy?.(target)) return
  throw gatewayError('INVALID_REQUEST', {
    message: `POST ${endpoint.path} does not serve "${getTargetName(target)}", a model for ${PURPOSE_BY_KIND[kind]}${suggestEndpoint(kind)}`,
    data: { param: 'model' },
  })
}

/** Returns whether the target supports the kind at its chat endpoint, as Google and resellers of its models do for images and audio. */
const supportsKindInChat = (
  { operation }: RequestedEndpoint,
  kind: Kind,
  { format, model }: Pick<ProviderTarget, 'format' | 'model'>,
): boolean => operation.kind === 'llm' && CHAT_KINDS.has(kind) && (format === 'gemini' || /(?:^|\/)gemini-/.test(model))

const CHAT_KINDS: ReadonlySet<Kind> = new Set(['image', 'tts', 'stt'])
