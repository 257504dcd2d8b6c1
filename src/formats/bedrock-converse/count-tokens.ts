import { isObject, type JsonObject } from '../../lib/json.ts'
import { pathSegment } from '../../lib/path-segment.ts'
import { defined } from '../canonical/defined.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { TargetContext, UpstreamCounter, WrittenRequest } from '../translator.ts'
import { converseRequest } from './request-write.ts'
import type { WireCountRequest } from './wire.ts'

/** `CountTokens` of Bedrock, which counts what `Converse` would be charged for. */
export const converseCounter: UpstreamCounter = { writeRequest, parseCount }

/** The question takes four members of a request; the form of the answer, which models read as well, is none of them. */
function writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const { messages, system, toolConfig, outputConfig, additionalModelRequestFields } = converseRequest(request, target)
  if (outputConfig) target.warnings.dropped('output')
  const converse = defined<WireCountRequest['input']['converse']>({
    messages,
    system,
    toolConfig,
    additionalModelRequestFields: additionalModelRequestFields && withLeastBudget(additionalModelRequestFields),
  })
  return {
    path: `/model/${pathSegment(baseModel(target.model))}/count-tokens`,
    headers: {},
    body: { input: { converse } },
  }
}

/**
 * The model behind an inference profile, by the profile's id or ARN: profiles are not counted for. They only say where the same model runs,
 * so that the count is the same.
 */
const baseModel = (model: string): string =>
  model.replace(/^arn:.*:(?:inference-profile|foundation-model)\//, '').replace(REGIONS, '')

/** What is put before a model's id in those of profiles that span regions: `us.`, `apac.`, `global.`. */
const REGIONS = /^(?:[a-z]{2}|us-gov|apac|global)\.(?=[a-z])/

/** That the model thinks has to be known, how much does not: a large budget would be refused beside the limit of tokens, which cannot be told. */
function withLeastBudget(fields: JsonObject): JsonObject {
  const { thinking } = fields
  const isBudget = isObject(thinking) && typeof thinking.budget_tokens === 'number'
  return isBudget ? { ...fields, thinking: { ...thinking, budget_tokens: LEAST_BUDGET } } : fields
}

/** The least that Claude takes. */
const LEAST_BUDGET = 1_024

function parseCount({ inputTokens }: JsonObject): number | undefined {
  return typeof inputTokens === 'number' ? inputTokens : undefined
}
