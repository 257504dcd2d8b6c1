import { assertNever } from '../../../../lib/assert-never.ts'
import { formatScalar } from '../../../../lib/json.ts'
import type { ReasoningTraits } from '../../../../traits.ts'
import { getBetaFeature } from '../../anthropic-tools.ts'
import {
  type CanonicalRequest,
  mergeVendorFields,
  type OutputFormat,
  type ReasoningOptions,
  type RequestOptions,
} from '../../canonical/canonical-request.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import { shortenId } from '../../canonical/ids.ts'
import { toStrictSchema } from '../../strict-schema.ts'
import type { TargetContext, UpstreamRequest } from '../../translator.ts'
import { writeBreakpoint } from '../anthropic-fields.ts'
import type {
  WireCountRequest,
  WireMessageParam,
  WireOutputConfig,
  WireRequest,
  WireThinkingConfig,
} from '../anthropic-wire.ts'
import { isBlank, writeTurns } from './anthropic-provider-conversation.ts'
import { writeToolChoice, writeTools } from './anthropic-provider-tools.ts'

/** Writes a Messages request. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): UpstreamRequest {
  const requestBody = mergeVendorFields(writeBody(request, target), request, 'anthropic-messages')
  const body = dropUnboundThinking(requestBody, target)
  return { path: '/messages', headers: writeBetas(body), body }
}

function writeBody(request: CanonicalRequest, target: TargetContext): WireRequest {
  const { stream, turns, tools, toolChoice, options } = request
  const { system, messages } = writeTurns(turns, target)
  return omitUndefined<WireRequest>({
    model: target.model,
    max_tokens: getMaxTokens(options, target),
    system: system.length > 0 ? system : undefined,
    messages,
    tools: writeTools(tools, target),
    tool_choice: tools.length > 0 ? writeToolChoice(toolChoice, options.parallelToolCalls, target) : undefined,
    ...writeOptions(request, messages, target),
    stream: stream || undefined,
  })
}

/** Writes the header that lists a request's beta features. The API version that all compatible vendors support requires this header. */
function writeBetas({
  messages,
  speed,
  thinking,
  tools = [],
  context_management,
  output_config,
}: WireRequest): Record<string, string> {
  const toolBetas = tools.flatMap((tool) => ('type' in tool && getBetaFeature(formatScalar(tool.type))) || [])
  const betas = [
    ...new Set(toolBetas),
    ...(messages.some(hasFileId) ? ['files-api-2025-04-14'] : []),
    ...(thinking?.type === 'adaptive' && thinking.block_binding ? [BINDING_BETA_FEATURE] : []),
    ...(speed === 'fast' ? ['fast-mode-2026-02-01'] : []),
    ...(tools.some((tool) => 'input_examples' in tool) ? ['advanced-tool-use-2025-11-20'] : []),
    ...(context_management ? ['context-management-2025-06-27'] : []),
    ...(context_management?.edits.some(({ type }) => type === 'compact_20260112') ? ['compact-2026-01-12'] : []),
    ...(output_config?.task_budget ? ['task-budgets-2026-03-13'] : []),
  ]
  return betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}
}

const hasFileId = ({ content }: WireMessageParam): boolean =>
  content.some((block) => {
    if (block.type === 'tool_result') return block.content?.some(refersToFile) ?? false
    return refersToFile(block)
  })

const refersToFile = (block: object): boolean =>
  'source' in block && typeof block.source === 'object' && block.source !== null && 'file_id' in block.source

/** Writes a token-count request: the request body without fields that only concern the response. */
export function writeCountRequest(request: CanonicalRequest, target: TargetContext): UpstreamRequest {
  const requestBody = writeBody(request, target)
  const { model, system, messages, tools, tool_choice, thinking, output_config, cache_control } = requestBody
  const body = omitUndefined<WireCountRequest>({
    model,
    system,
    messages,
    tools,
    tool_choice,
    thinking,
    output_config,
    cache_control,
  })
  return { path: '/messages/count_tokens', headers: {}, body }
}

function writeOptions(
  { options, output }: Pick<CanonicalRequest, 'options' | 'output'>,
  messages: readonly WireMessageParam[],
  target: TargetContext,
) {
  const { thinking, effort } = writeThinking(options.reasoning, messages, target)
  const outputConfig: WireOutputConfig = {
    ...(effort && { effort }),
    ...(output?.type === 'json-schema' && { format: { type: 'json_schema', schema: writeSchema(output, target) } }),
  }
  const { auto, ...others } = options.cacheOptions ?? {}
  if (Object.keys(others).length > 0) target.warnings.recordDrop('cacheOptions')
  return {
    thinking,
    output_config: effort || output?.type === 'json-schema' ? outputConfig : undefined,
    ...writeSampling(options, thinking, target),
    stop_sequences: writeStopSequences(options.stop, target),
    metadata: options.endUser === undefined ? undefined : { user_id: shortenId(options.endUser, MAX_USER_ID_LENGTH) },
    ...writeTier(options.serviceTier, target),
    ...writeBreakpoint(auto, target),
  }
}

/** The longest user ID that Anthropic accepts. */
const MAX_USER_ID_LENGTH = 256

/** Returns the token limit, which the format requires: the client's, the model's, or one that leaves room for output after the reasoning. */
function getMaxTokens({ maxOutputTokens, reasoning }: RequestOptions, { traits }: TargetContext): number {
  const usesThinking = reasoning && reasoning.effort !== 'none'
  const reasoningTokens = usesThinking ? getBudget(reasoning, traits.reasoning) : 0
  return maxOutputTokens ?? traits.maxOutputTokens ?? RESPONSE_TOKENS + reasoningTokens
}

const RESPONSE_TOKENS = 8_192

/** Puts the name and description in the schema, because the format has no fields for them. */
function writeSchema(
  { schema, name, description }: OutputFormat & { type: 'json-schema' },
  { warnings }: TargetContext,
) {
  const titledSchema = { ...(name && { title: name }), ...(description && { description }), ...schema }
  return toStrictSchema(titledSchema, (change) => warnings.recordChange('output', change))
}

/** Writes the sampling options. A model that reasons accepts few of them, and no model accepts both `temperature` and `top_p`. */
function writeSampling(options: RequestOptions, thinking: WireThinkingConfig | undefined, { warnings }: TargetContext) {
  let { temperature, topP, topK } = options
  if (thinking && thinking.type !== 'disabled') {
    if (temperature !== undefined && temperature !== 1) warnings.recordDrop('temperature')
    if (topP !== undefined && topP < MIN_TOP_P) warnings.recordDrop('topP')
    if (topK !== undefined) warnings.recordDrop('topK')
    temperature = undefined
    topP = topP !== undefined && topP < MIN_TOP_P ? undefined : topP
    topK = undefined
  }
  if (temperature !== undefined && topP !== undefined) {
    if (temperature === 1) temperature = undefined
    else {
      if (topP !== 1) warnings.recordDrop('topP')
      topP = undefined
    }
  }
  return { temperature, top_p: topP, top_k: topK }
}

const MIN_TOP_P = 0.95

function writeStopSequences(stop: string[] | undefined, { warnings }: TargetContext): string[] | undefined {
  const sequences = stop?.filter((text) => !isBlank(text)) ?? []
  if (stop && sequences.length < stop.length) warnings.recordDrop('stop')
  return sequences.length > 0 ? sequences : undefined
}

function writeTier(tier: RequestOptions['serviceTier'], { warnings }: TargetContext) {
  switch (tier) {
    case 'auto':
      return { service_tier: 'auto' as const }
    case 'default':
      return { service_tier: 'standard_only' as const }
    case 'fast':
      return { speed: 'fast' as const }
    case 'priority':
      warnings.recordChange('serviceTier', 'replaced')
      return { service_tier: 'auto' as const } // uses reserved capacity if there is any
    case 'flex':
    case 'scale':
      warnings.recordDrop('serviceTier')
      return {}
    case undefined:
      return {}
    default:
      return assertNever(tier)
  }
}

interface ThinkingFields {
  thinking?: WireThinkingConfig
  effort?: NonNullable<WireOutputConfig['effort']>
}

/**
 * Writes the fields that request reasoning. A model with a thinking budget requires clients to send back a tool loop's thinking blocks. If they are
 * missing, as after another provider's response, thinking is disabled until the loop ends. It is also disabled when the model continues a response.
 */
function writeThinking(
  reasoning: ReasoningOptions | undefined,
  messages: readonly WireMessageParam[],
  { traits, warnings }: TargetContext,
): ThinkingFields {
  const { control } = traits.reasoning
  if (!reasoning || control === 'none') return {}
  const { effort, budget, show } = reasoning
  if (effort === undefined && budget === undefined) return {} // the client only chose how to show reasoning
  if (effort === 'none') return control === 'effort' ? {} : { thinking: { type: traits.reasoning.disabledType } }
  const effortField = effort && { effort: effort === 'minimal' ? ('low' as const) : effort }
  if (control === 'effort') return { ...effortField }
  const display = show && ({ display: show === 'none' ? 'omitted' : 'summarized' } as const)
  if (control === 'adaptive') return { thinking: { type: 'adaptive', ...display }, ...effortField }
  if (lacksThinking(messages)) {
    warnings.recordDrop('reasoning')
    return { thinking: { type: 'disabled' } }
  }
  return { thinking: { type: 'enabled', budget_tokens: getBudget(reasoning, traits.reasoning), ...display } }
}

function getBudget({ effort = 'medium', budget }: ReasoningOptions, { budgets }: ReasoningTraits): number {
  return typeof budget === 'number' ? budget : budgets[effort]
}

/** Returns whether the assistant turn that the request continues begins without a thinking block. */
function lacksThinking(messages: readonly WireMessageParam[]): boolean {
  let firstMessage: WireMessageParam | undefined // the turn begins after the last user message that isn't just tool results
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant') firstMessage = message
    else if (message.role === 'system' || message.content[0]?.type !== 'tool_result') break
  }
  const type = firstMessage?.content[0]?.type
  return type !== undefined && type !== 'thinking' && type !== 'redacted_thinking'
}

/** The beta that lets a request choose how to handle thinking blocks whose context changed. */
const BINDING_BETA_FEATURE = 'thinking-binding-controls-2026-08-01'

/**
 * Asks newer models to drop thinking blocks whose context changed. These models bind each thinking block to everything before it, and they reject a
 * conversation that was shortened or edited since. Clients of other formats don't know about that.
 */
function dropUnboundThinking(body: WireRequest, { traits }: TargetContext): WireRequest {
  const { thinking = { type: 'adaptive' }, messages } = body // these models default to adaptive thinking
  if (!traits.reasoning.bindsReasoning || thinking.type !== 'adaptive' || !messages.some(hasThinking)) return body
  return { ...body, thinking: { ...thinking, block_binding: { prefix_mismatch_behavior: 'drop_block' } } }
}

const hasThinking = ({ content }: WireMessageParam): boolean =>
  content.some(({ type }) => type === 'thinking' || type === 'redacted_thinking')
