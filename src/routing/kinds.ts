import { gatewayError } from '../errors.ts'
import type { Endpoint } from '../formats/format.ts'
import { endpointOf } from '../kinds/kinds.ts'
import { catalogModelOf } from '../providers/catalog-model.ts'
import { definitionOf, namesOf } from '../providers/names.ts'
import { type ProviderTarget, targetName } from '../providers/target.ts'
import type { Kind } from '../types.ts'
import type { Group, RouteTarget } from './group.ts'
import { mixedVectors, twoModelsOf } from './one-model.ts'
import type { RouteTable } from './route-table.ts'

/** What models of each kind are for. */
const PURPOSES: Readonly<Record<Kind, string>> = {
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

/** The sentence for a model that an endpoint of another kind was asked for; nothing for a language model, and where it is the right endpoint. */
export const strangerSentence = (name: string, kind: Kind | undefined, endpoint: AskedEndpoint): string =>
  kind === undefined || kind === 'llm' || isServedAt(endpoint, kind)
    ? ''
    : `"${name}" is a model for ${PURPOSES[kind]}, ${servedAt(kind)}.`

/** The endpoint that serves models of a kind, as the rest of a sentence. */
function servedAt(kind: Kind): string {
  const endpoint = endpointOf(kind)
  return endpoint ? `which is asked at POST ${endpoint.path}` : 'which this gateway does not serve yet'
}

type Model = Pick<RouteTarget, 'connection' | 'provider' | 'model'>
type KnownModels = Pick<RouteTable, 'catalog' | 'customModels'>

/** The kind of a target's model, as the catalog or a custom model has it; `undefined`: it is not known. */
export async function kindOfTarget(target: Model, { catalog, customModels }: KnownModels): Promise<Kind | undefined> {
  const known = kindInCatalog(target, catalog)
  if (known) return known
  const custom = await customModels().catch(() => []) // what is not known is not worth a failure
  if (custom.length === 0) return undefined
  const names: string[] = Object.values(namesOf(catalog, target.connection))
  return custom.find(({ id, providerAlias }) => id.trim() === target.model && names.includes(providerAlias))?.type
}

function kindInCatalog(target: Model, catalog: RouteTable['catalog']): Kind | undefined {
  const known = catalogModelOf(catalog, target)
  if (known) return known.type ?? 'llm'
  const { searchConfig, fetchConfig } = definitionOf(catalog, target.provider) ?? {}
  if (searchConfig && target.model === 'search') return 'webSearch'
  return fetchConfig && target.model === 'fetch' ? 'webFetch' : undefined
}

type AskedEndpoint = Pick<Endpoint, 'operation' | 'path'>

const isServedAt = ({ operation }: AskedEndpoint, kind: Kind): boolean =>
  operation.kind === kind || (operation.alsoServes?.includes(kind) ?? false)

/**
 * Is the kind served at an endpoint other than this one? A kind that is served nowhere yet is sent to providers of chat, since some of them answer
 * with images and speech there; the others refuse it.
 */
const isOfAnother = (endpoint: AskedEndpoint, kind: Kind): boolean =>
  !isServedAt(endpoint, kind) && (endpointOf(kind) !== undefined || endpoint.operation.kind !== 'llm')

/**
 * Throws `INVALID_REQUEST` that names the right endpoint when the target's model is known to be of another kind than those that the endpoint
 * serves. Some vendors serve models of several kinds at their endpoint for chat, too.
 */
export async function requireKind(
  { call: { endpoint }, table }: { call: { endpoint: Endpoint }; table: KnownModels },
  target: RouteTarget,
): Promise<void> {
  const kind = kindInCatalog(target, table.catalog) ?? (await kindOfTarget(target, table))
  if (kind === undefined || !isOfAnother(endpoint, kind) || chatsToo(endpoint, kind, target)) return
  if (kind === 'llm' && endpoint.operation.isServedBy?.(target)) return
  throw gatewayError('INVALID_REQUEST', {
    message: `"${targetName(target)}" is a model for ${PURPOSES[kind]}, ${servedAt(kind)}, and not at POST ${endpoint.path}.`,
    data: { param: 'model' },
  })
}

/** Google answers with images and speech at its endpoints for chat, and so do those who pass its models on. */
const chatsToo = (
  { operation }: AskedEndpoint,
  kind: Kind,
  { format, model }: Pick<ProviderTarget, 'format' | 'model'>,
): boolean => operation.kind === 'llm' && CHATTING.has(kind) && (format === 'gemini' || /(?:^|\/)gemini-/.test(model))

const CHATTING: ReadonlySet<Kind> = new Set(['image', 'tts', 'stt'])

/** Throws `INVALID_REQUEST` that names the right endpoint when a combo is of another kind than those that the endpoint serves. */
export function requireComboKind({ name, kind }: Pick<Group, 'name' | 'kind'>, endpoint: AskedEndpoint): void {
  if (kind === undefined || !isOfAnother(endpoint, kind)) return
  throw gatewayError('INVALID_REQUEST', {
    message: `The combo "${name}" is of the kind "${kind}", ${servedAt(kind)}, and not at POST ${endpoint.path}, which serves combos of the kind "${endpoint.operation.kind}".`,
    data: { param: 'model' },
  })
}

/** Throws `INVALID_REQUEST` for a combo of embeddings that leads to different models. */
export function requireOneModel(combo: Group, { combos, aliases }: Pick<RouteTable, 'combos' | 'aliases'>): void {
  if (combo.sameVectors) return
  if (!problems.has(combo)) {
    const two = twoModelsOf(namesIn(combo), {
      comboOf(name) {
        const inner = combos.get(name)
        return inner && { models: namesIn(inner), sameVectors: inner.sameVectors }
      },
      meaningOf: (name) => aliases.get(name),
    })
    problems.set(combo, two && `The combo "${combo.name}" mixes vectors: ${mixedVectors(two)}.`)
  }
  const message = problems.get(combo)
  if (message !== undefined) throw gatewayError('INVALID_REQUEST', { message, data: { param: 'model' } })
}

const namesIn = ({ entries }: Group) => entries.map(({ name }) => name)

/** The problems found in combos, cached by group. Groups are made anew when a combo or an alias changes. */
const problems = new WeakMap<Group, string | undefined>()
