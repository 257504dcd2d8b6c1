import { assertNever } from '../../../../lib/assert-never.ts'
import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { encodePathSegment } from '../../../../lib/urls.ts'
import type { ReasoningTraits } from '../../../../traits.ts'
import type {
  CanonicalRequest,
  OutputFormat,
  ReasoningOptions,
  RequestOptions,
} from '../../canonical/canonical-request.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import { toStrictSchema } from '../../strict-schema.ts'
import type { TargetContext, UpstreamRequest } from '../../translator.ts'
import type { WireCountRequest, WireMessage, WireRequest } from '../converse-wire.ts'
import { writeTurns } from './converse-provider-conversation.ts'
import { writeToolConfig } from './converse-provider-tools.ts'

/** Writes a Converse request. The request path contains the model, with colons and slashes encoded. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): UpstreamRequest {
  const operation = request.stream ? 'converse-stream' : 'converse'
  const path = `/model/${encodePathSegment(target.model)}/${operation}`
  return { path, headers: {}, body: writeBody(request, target) }
}

function writeBody(request: CanonicalRequest, target: TargetContext): WireRequest {
  const { stopFields } = target.traits
  const { system, messages } = writeTurns(request.turns, target)
  const { options, own: modelFields } = resolveOptions(request.options, messages, target)
  const stopSequences = options.stop?.filter((text) => text.trim() !== '')
  if (stopSequences && stopSequences.length < (options.stop?.length ?? 0)) target.warnings.recordDrop('stop')
  const hasStopSequences = stopSequences !== undefined && stopSequences.length > 0
  return omitUndefined<WireRequest>({
    system: system.length > 0 ? system : undefined,
    messages,
    inferenceConfig: omitEmpty(
      omitUndefined<NonNullable<WireRequest['inferenceConfig']>>({
        maxTokens: options.maxOutputTokens,
        temperature: options.temperature,
        topP: options.topP,
        stopSequences: hasStopSequences ? stopSequences : undefined,
      }),
    ),
    toolConfig: writeToolConfig(request, target),
    outputConfig: writeOutput(request.output, target),
    serviceTier: writeTier(options.serviceTier, target),
    additionalModelRequestFields: omitEmpty(modelFields),
    additionalModelResponseFieldPaths: hasStopSequences && stopFields.length > 0 ? [...stopFields] : undefined,
  })
}

const omitEmpty = <T extends object>(object: T): T | undefined => (Object.keys(object).length > 0 ? object : undefined)

/** Adjusts the options for a reasoning model, which accepts few sampling options and needs room for the response. */
function resolveOptions(requestedOptions: RequestOptions, messages: readonly WireMessage[], target: TargetContext) {
  const { traits, warnings } = target
  const { control } = traits.reasoning
  const options = { ...requestedOptions }
  if (control === 'budget' && options.reasoning && options.reasoning.effort !== 'none' && lacksReasoning(messages)) {
    warnings.recordDrop('reasoning') // the model requires the tool loop's reasoning, which the client didn't send
    delete options.reasoning
  }
  const fields: JsonObject = options.reasoning ? writeReasoning(options.reasoning, traits.reasoning) : {}
  const usesReasoning = Object.keys(fields).length > 0 && options.reasoning?.effort !== 'none'
  const isClaude = control === 'budget' || control === 'adaptive'
  if (usesReasoning && isClaude) dropOptions(options, ['temperature', 'topP', 'topK'], target)
  if (usesReasoning && control === 'level' && options.reasoning?.effort === 'high')
    dropOptions(options, ['temperature', 'topP', 'maxOutputTokens'], target) // Nova rejects these options together with reasoning
  if (isClaude && options.temperature !== undefined && options.topP !== undefined)
    dropOptions(options, ['topP'], target)
  const budget = options.reasoning?.budget
  if (usesReasoning && control === 'budget' && typeof budget === 'number')
    options.maxOutputTokens ??= budget + RESPONSE_TOKENS
  const { topK } = options
  if (topK !== undefined)
    Object.assign(fields, traits.topKField === 'top_k' ? { top_k: topK } : { inferenceConfig: { topK } })
  return { options, own: fields }
}

/** The tokens for the response if the client sets no limit. */
const RESPONSE_TOKENS = 8_192

function dropOptions(
  options: RequestOptions,
  names: readonly ('temperature' | 'topP' | 'topK' | 'maxOutputTokens')[],
  { warnings }: TargetContext,
) {
  for (const name of names) {
    if (options[name] === undefined) continue
    if (options[name] !== 1 || name !== 'temperature') warnings.recordDrop(name)
    delete options[name]
  }
}

/** Returns whether the assistant turn that the request continues starts without its reasoning. */
function lacksReasoning(messages: readonly WireMessage[]): boolean {
  let firstMessage: WireMessage | undefined // the first message of that turn, which starts after the last user message that isn't just tool results
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant') firstMessage = message
    else if (!message.content.some((block) => 'toolResult' in block)) break
  }
  const block = firstMessage?.content[0]
  return block !== undefined && !('reasoningContent' in block)
}

function writeOutput(output: OutputFormat | undefined, { warnings }: TargetContext): WireRequest['outputConfig'] {
  if (output?.type !== 'json-schema') return undefined
  const { name, description } = output
  const schema = toStrictSchema(output.schema, (change) => warnings.recordChange('output', change))
  const jsonSchema = { schema: JSON.stringify(schema), ...omitUndefined({ name, description }) }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

function writeTier(tier: RequestOptions['serviceTier'], { warnings }: TargetContext): WireRequest['serviceTier'] {
  if (tier === 'default' || tier === 'flex' || tier === 'priority') return { type: tier }
  if (tier === 'scale' || tier === 'fast') warnings.recordDrop('serviceTier')
  return undefined
}

/* The fields below are vendor-specific. Converse forwards them to the model in `additionalModelRequestFields`. */

/** Writes the fields that request reasoning. Writes none if the model doesn't reason, or if the client only chose how to show reasoning. */
function writeReasoning(
  { effort, budget, show }: ReasoningOptions,
  { control, budgets, disabledType }: ReasoningTraits,
): JsonObject {
  if (effort === undefined && budget === undefined) return {}
  const isDisabled = effort === 'none'
  const display = show && { display: show === 'none' ? 'omitted' : 'summarized' }
  switch (control) {
    case 'adaptive': // Claude 4.6 and later
      if (isDisabled) return { thinking: { type: disabledType } }
      return {
        thinking: { type: 'adaptive', ...display },
        ...(effort && { output_config: { effort: effort === 'minimal' ? 'low' : effort } }),
      }
    case 'budget': // Claude up to 4.5
      if (isDisabled) return { thinking: { type: 'disabled' } }
      return {
        thinking: {
          type: 'enabled',
          budget_tokens: typeof budget === 'number' ? budget : budgets[effort ?? 'medium'],
          ...display,
        },
      }
    case 'level': // Nova
      if (isDisabled) return { reasoningConfig: { type: 'disabled' } }
      return { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort ?? 'medium' } }
    case 'effort': // gpt-oss
      return isDisabled ? {} : { reasoning_effort: effort ?? 'medium' }
    case 'reasoning_config': // Qwen
      return isDisabled ? {} : { reasoning_config: effort ?? 'medium' }
    case 'none':
    case 'thinking':
    case 'thinking-effort':
    case 'enable_thinking':
    case 'reasoning-object':
    case 'chat-template':
      return {} // these models use the Chat Completions fields
    default:
      return assertNever(control)
  }
}

/**
 * Writes a `CountTokens` request, which accepts four fields of a Converse request. The output format isn't one of them, although models read it too.
 */
export function writeCountRequest(request: CanonicalRequest, target: TargetContext): UpstreamRequest {
  const { messages, system, toolConfig, outputConfig, additionalModelRequestFields } = writeBody(request, target)
  if (outputConfig) target.warnings.recordDrop('output')
  const converse = omitUndefined<WireCountRequest['input']['converse']>({
    messages,
    system,
    toolConfig,
    additionalModelRequestFields: additionalModelRequestFields && lowerBudget(additionalModelRequestFields),
  })
  return {
    path: `/model/${encodePathSegment(getBaseModel(target.model))}/count-tokens`,
    headers: {},
    body: { input: { converse } },
  }
}

/** Returns the model behind an inference profile (ID or ARN), because tokens can't be counted for profiles. The count is the same. */
const getBaseModel = (model: string): string =>
  model.replace(/^arn:.*:(?:inference-profile|foundation-model)\//, '').replace(REGION_PREFIX_PATTERN, '')

/** The ID prefix of profiles that span regions: `us.`, `apac.`, `global.`. */
const REGION_PREFIX_PATTERN = /^(?:[a-z]{2}|us-gov|apac|global)\.(?=[a-z])/

/** Sets the smallest reasoning budget. Count requests have no output limit, and without one, a large budget is rejected. */
function lowerBudget(fields: JsonObject): JsonObject {
  const { thinking } = fields
  const hasBudget = isObject(thinking) && typeof thinking.budget_tokens === 'number'
  return hasBudget ? { ...fields, thinking: { ...thinking, budget_tokens: MIN_BUDGET } } : fields
}

/** The smallest budget that Claude accepts. */
const MIN_BUDGET = 1_024
