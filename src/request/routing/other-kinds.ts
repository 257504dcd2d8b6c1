import type { Kind } from '../../types.ts'
import {
  findKind,
  type ModelSources,
  PURPOSE_BY_KIND,
  type RequestedEndpoint,
  suggestEndpoint,
  supportsKind,
  type TargetModel,
} from './model-kinds.ts'

/** Returns a sentence for a model that was requested at an endpoint of another kind. Empty for a language model or at the right endpoint. */
export const describeOtherKind = (name: string, kind: Kind | undefined, endpoint: RequestedEndpoint): string =>
  kind === undefined || kind === 'llm' || supportsKind(endpoint, kind)
    ? ''
    : `"${name}" is a model for ${PURPOSE_BY_KIND[kind]}${suggestEndpoint(kind)}`

/** Returns the kind of a target's model, from the catalog or a custom model, or `undefined` if it is unknown. */
export const getTargetKind = async (target: TargetModel, table: ModelSources): Promise<Kind | undefined> =>
  findKind(target, table.catalog, await table.loadCustomModels().catch(() => [])) // an unknown kind isn't a reason to fail
