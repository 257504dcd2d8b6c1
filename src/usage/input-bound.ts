import { estimateTokens } from '../formats/estimate-tokens.ts'
import type { JsonObject } from '../lib/json.ts'
import type { ModelAt } from '../providers/catalog-model.ts'

/** The most tokens of input that the provider counts for the body of a request. */
export const inputBound = (body: JsonObject, _target: ModelAt): number => estimateTokens(body) * 2 + 600
