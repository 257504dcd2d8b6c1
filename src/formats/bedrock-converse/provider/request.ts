import { assertNever } from '../../../lib/assert-never.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { pathSegment } from '../../../lib/urls.ts'
import type { ReasoningTraits, Traits } from '../../../traits.ts'
import type { CanonicalRequest, OutputFormat, ReasoningOptions, RequestOptions } from '../../canonical/request.ts'
import { defined } from '../../canonical/values.ts'
import { strictSchema } from '../../strict-schema.ts'
import type { TargetContext, WrittenRequest } from '../../translator.ts'
import type { WireCountRequest, WireMessage, WireRequest } from '../wire.ts'
import { writeTurns } from './conversation.ts'
import { writeToolConfig } from './tools.ts'

/** Writes a request to Converse. The model is part of its path, with colons and slashes encoded. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const operation = request.stream ? 'converse-stream' : 'converse'
  const path = `/model/${pathSegment(target.model)}/${operation}`
  return { path, headers: {}, body: converseRequest(request, target) }
}

/** The body of a request. */
function converseRequest(request: CanonicalRequest, target: TargetContext): WireRequest {
  const { stopFields } = target.traits
  const { system, messages } = writeTurns(request.turns, target)
  const { options, own } = settleOptions(request.options, messages, target)
  const stop = options.stop?.filter((text) => text.trim() !== '')
  if (stop && stop.length < (options.stop?.length ?? 0)) target.warnings.noteDropped('stop')
  const isStopped = stop !== undefined && stop.length > 0
  return defined<WireRequest>({
    system: system.length > 0 ? system : undefined,
    messages,
    inferenceConfig: orNone(
      defined<NonNullable<WireRequest['inferenceConfig']>>({
        maxTokens: options.maxOutputTokens,
        temperature: options.temperature,
        topP: options.topP,
        stopSequences: isStopped ? stop : undefined,
      }),
    ),
    toolConfig: writeToolConfig(request, target),
    outputConfig: writeOutput(request.output, target),
    serviceTier: writeTier(options.serviceTier, target),
    additionalModelRequestFields: orNone(own),
    additionalModelResponseFieldPaths: isStopped && stopFields.length > 0 ? [...stopFields] : undefined,
  })
}

const orNone = <T extends object>(object: T): T | undefined => (Object.keys(object).length > 0 ? object : undefined)

/** Chooses combinations of options that the model accepts: a model that reasons accepts few sampling options, and needs room for the answer. */
function settleOptions(requested: RequestOptions, messages: readonly WireMessage[], target: TargetContext) {
  const { traits, warnings } = target
  const { by } = traits.reasoning
  const options = { ...requested }
  if (by === 'budget' && options.reasoning && options.reasoning.effort !== 'none' && lacksReasoning(messages)) {
    warnings.noteDropped('reasoning') // the model requires the reasoning of the tool loop, which is lost
    delete options.reasoning
  }
  const own = options.reasoning ? reasoningFields(options.reasoning, traits.reasoning) : {}
  const isReasoning = Object.keys(own).length > 0 && options.reasoning?.effort !== 'none'
  const isClaude = by === 'budget' || by === 'adaptive'
  if (isReasoning && isClaude) drop(options, ['temperature', 'topP', 'topK'], target)
  if (isReasoning && by === 'level' && options.reasoning?.effort === 'high')
    drop(options, ['temperature', 'topP', 'maxOutputTokens'], target) // Nova refuses these options together with reasoning
  if (isClaude && options.temperature !== undefined && options.topP !== undefined) drop(options, ['topP'], target)
  const budget = options.reasoning?.budget
  if (isReasoning && by === 'budget' && typeof budget === 'number') options.maxOutputTokens ??= budget + ANSWER_TOKENS
  const topK: JsonObject = options.topK === undefined ? {} : topKFields(options.topK, traits)
  return { options, own: { ...own, ...topK } }
}

/** The tokens for the answer when the client gives no limit. */
const ANSWER_TOKENS = 8_192

function drop(
  options: RequestOptions,
  names: readonly ('temperature' | 'topP' | 'topK' | 'maxOutputTokens')[],
  { warnings }: TargetContext,
) {
  for (const name of names) {
    if (options[name] === undefined) continue
    if (options[name] !== 1 || name !== 'temperature') warnings.noteDropped(name)
    delete options[name]
  }
}

/** Does the assistant turn that the request continues begin without its reasoning? */
function lacksReasoning(messages: readonly WireMessage[]): boolean {
  let first: WireMessage | undefined // of that turn: all after the last user message that is more than tool results
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant') first = message
    else if (!message.content.some((block) => 'toolResult' in block)) break
  }
  const block = first?.content[0]
  return block !== undefined && !('reasoningContent' in block)
}

function writeOutput(output: OutputFormat | undefined, { warnings }: TargetContext): WireRequest['outputConfig'] {
  if (output?.type !== 'json-schema') return undefined
  const { name, description } = output
  const schema = strictSchema(output.schema, (change) => warnings.noteChanged('output', change))
  const jsonSchema = { schema: JSON.stringify(schema), ...defined({ name, description }) }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

function writeTier(tier: RequestOptions['serviceTier'], { warnings }: TargetContext): WireRequest['serviceTier'] {
  if (tier === 'default' || tier === 'flex' || tier === 'priority') return { type: tier }
  if (tier === 'scale' || tier === 'fast') warnings.noteDropped('serviceTier')
  return undefined
}

/* The fields below belong to vendors. Converse passes them on to the model unread, in `additionalModelRequestFields`. */

/** The fields that ask the model for reasoning; none if the model does not reason, or if the client only chose how reasoning is shown. */
function reasoningFields(
  { effort, budget, show }: ReasoningOptions,
  { by, budgets, off }: ReasoningTraits,
): JsonObject {
  if (effort === undefined && budget === undefined) return {}
  const isOff = effort === 'none'
  const display = show && { display: show === 'none' ? 'omitted' : 'summarized' }
  switch (by) {
    case 'adaptive': // Claude, from 4.6 on
      if (isOff) return { thinking: { type: off } }
      return {
        thinking: { type: 'adaptive', ...display },
        ...(effort && { output_config: { effort: effort === 'minimal' ? 'low' : effort } }),
      }
    case 'budget': // Claude, until 4.5
      if (isOff) return { thinking: { type: 'disabled' } }
      return {
        thinking: {
          type: 'enabled',
          budget_tokens: typeof budget === 'number' ? budget : budgets[effort ?? 'medium'],
          ...display,
        },
      }
    case 'level': // Nova
      if (isOff) return { reasoningConfig: { type: 'disabled' } }
      return { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort ?? 'medium' } }
    case 'effort': // gpt-oss
      return isOff ? {} : { reasoning_effort: effort ?? 'medium' }
    case 'reasoning_config': // Qwen
      return isOff ? {} : { reasoning_config: effort ?? 'medium' }
    case 'none':
    case 'thinking':
    case 'thinking-effort':
    case 'enable_thinking':
    case 'reasoning-object':
    case 'chat-template':
      return {} // fields of Chat Completions
    default:
      return assertNever(by)
  }
}

/** The field for `topK`, for which Converse itself has none. */
const topKFields = (topK: number, { topKField }: Pick<Traits, 'topKField'>): JsonObject =>
  topKField === 'top_k' ? { top_k: topK } : { inferenceConfig: { topK } }

/**
 * Writes a request to `CountTokens`, which counts the tokens that `Converse` would charge. It accepts four members of a request, without the
 * format of the answer, which models read as well.
 */
export function writeCountRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const { messages, system, toolConfig, outputConfig, additionalModelRequestFields } = converseRequest(request, target)
  if (outputConfig) target.warnings.noteDropped('output')
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
 * The model of an inference profile, from the profile's id or ARN: tokens are not counted for profiles. A profile only chooses where the
 * model runs, so that the count is the same.
 */
const baseModel = (model: string): string =>
  model.replace(/^arn:.*:(?:inference-profile|foundation-model)\//, '').replace(REGIONS, '')

/** The prefix of the ids of profiles that span regions: `us.`, `apac.`, `global.`. */
const REGIONS = /^(?:[a-z]{2}|us-gov|apac|global)\.(?=[a-z])/

/**
 * Sets the smallest budget of reasoning in a request to count tokens. A large budget is refused without a limit of tokens, which such a
 * request cannot have.
 */
function withLeastBudget(fields: JsonObject): JsonObject {
  const { thinking } = fields
  const isBudget = isObject(thinking) && typeof thinking.budget_tokens === 'number'
  return isBudget ? { ...fields, thinking: { ...thinking, budget_tokens: LEAST_BUDGET } } : fields
}

/** The smallest budget that Claude accepts. */
const LEAST_BUDGET = 1_024
