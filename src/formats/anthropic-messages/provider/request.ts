import { assertNever } from '../../../lib/assert-never.ts'
import type { ReasoningTraits } from '../../../traits.ts'
import { betaOf } from '../../anthropic-tools.ts'
import { shortId } from '../../canonical/ids.ts'
import {
  type CanonicalRequest,
  type OutputFormat,
  type ReasoningOptions,
  type RequestOptions,
  withOwn,
} from '../../canonical/request.ts'
import { defined } from '../../canonical/values.ts'
import { strictSchema } from '../../strict-schema.ts'
import type { TargetContext, WrittenRequest } from '../../translator.ts'
import { wireMark } from '../fields.ts'
import type { WireCountRequest, WireMessageParam, WireOutputConfig, WireRequest, WireThinkingConfig } from '../wire.ts'
import { isBlank, writeTurns } from './conversation.ts'
import { writeToolChoice, writeTools } from './tools.ts'

/** Writes a request for a message. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const whole = withOwn(wireRequest(request, target), request, 'anthropic-messages')
  const body = dropUnboundThinking(whole, target)
  return { path: '/messages', headers: betasOf(body), body }
}

function wireRequest(request: CanonicalRequest, target: TargetContext): WireRequest {
  const { stream, turns, tools, toolChoice, options } = request
  const { system, messages } = writeTurns(turns, target)
  return defined<WireRequest>({
    model: target.model,
    max_tokens: maxTokens(options, target),
    system: system.length > 0 ? system : undefined,
    messages,
    tools: writeTools(tools, target),
    tool_choice: tools.length > 0 ? writeToolChoice(toolChoice, options.parallelToolCalls, target) : undefined,
    ...writeOptions(request, messages, target),
    stream: stream || undefined,
  })
}

/** The header that names the beta features of a request, as the version of the API demands that all compatible vendors have. */
function betasOf({
  messages,
  speed,
  thinking,
  tools = [],
  context_management,
  output_config,
}: WireRequest): Record<string, string> {
  const ofTools = tools.flatMap((tool) => ('type' in tool && betaOf(String(tool.type))) || [])
  const betas = [
    ...new Set(ofTools),
    ...(messages.some(namesFile) ? ['files-api-2025-04-14'] : []),
    ...(thinking?.type === 'adaptive' && thinking.block_binding ? [BINDING_BETA] : []),
    ...(speed === 'fast' ? ['fast-mode-2026-02-01'] : []),
    ...(tools.some((tool) => 'input_examples' in tool) ? ['advanced-tool-use-2025-11-20'] : []),
    ...(context_management ? ['context-management-2025-06-27'] : []),
    ...(context_management?.edits.some(({ type }) => type === 'compact_20260112') ? ['compact-2026-01-12'] : []),
    ...(output_config?.task_budget ? ['task-budgets-2026-03-13'] : []),
  ]
  return betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}
}

const namesFile = ({ content }: WireMessageParam): boolean =>
  content.some((block) => {
    if (block.type === 'tool_result') return block.content?.some(isFile) ?? false
    return isFile(block)
  })

const isFile = (block: object): boolean =>
  'source' in block && typeof block.source === 'object' && block.source !== null && 'file_id' in block.source

/** Writes a request to count the tokens of a request: the same body without the fields that concern only the answer. */
export function writeCountRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const whole = wireRequest(request, target)
  const { model, system, messages, tools, tool_choice, thinking, output_config, cache_control } = whole
  const body = defined<WireCountRequest>({
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

/** Writes the options under Anthropic's names. The caller removes undefined ones. */
function writeOptions(
  { options, output }: Pick<CanonicalRequest, 'options' | 'output'>,
  messages: readonly WireMessageParam[],
  target: TargetContext,
) {
  const { thinking, effort } = writeThinking(options.reasoning, messages, target)
  const config: WireOutputConfig = {
    ...(effort && { effort }),
    ...(output?.type === 'json-schema' && { format: { type: 'json_schema', schema: wireSchema(output, target) } }),
  }
  const { auto, ...others } = options.cacheOptions ?? {}
  if (Object.keys(others).length > 0) target.warnings.noteDropped('cacheOptions')
  return {
    thinking,
    output_config: effort || output?.type === 'json-schema' ? config : undefined,
    ...writeSampling(options, thinking, target),
    stop_sequences: writeStop(options.stop, target),
    metadata: options.endUser === undefined ? undefined : { user_id: shortId(options.endUser, MAX_USER_CHARACTERS) },
    ...writeTier(options.serviceTier, target),
    ...wireMark(auto, target),
  }
}

/** The longest id of a user that Anthropic accepts. */
const MAX_USER_CHARACTERS = 256

/** The limit of tokens, which the format requires: the client's, the model's, or one that leaves room for the answer after the reasoning. */
function maxTokens({ maxOutputTokens, reasoning }: RequestOptions, { traits }: TargetContext): number {
  const isThinking = reasoning && reasoning.effort !== 'none'
  const reasoningTokens = isThinking ? budgetOf(reasoning, traits.reasoning) : 0
  return maxOutputTokens ?? traits.maxOutputTokens ?? ANSWER_TOKENS + reasoningTokens
}

const ANSWER_TOKENS = 8_192

/** Puts name and description into the schema, since the format has no field for them. */
function wireSchema(
  { schema, name, description }: OutputFormat & { type: 'json-schema' },
  { warnings }: TargetContext,
) {
  const named = { ...(name && { title: name }), ...(description && { description }), ...schema }
  return strictSchema(named, (change) => warnings.noteChanged('output', change))
}

/** Writes the sampling options. A model that reasons accepts hardly any of them, and no model accepts both `temperature` and `top_p`. */
function writeSampling(options: RequestOptions, thinking: WireThinkingConfig | undefined, { warnings }: TargetContext) {
  let { temperature, topP, topK } = options
  if (thinking && thinking.type !== 'disabled') {
    if (temperature !== undefined && temperature !== 1) warnings.noteDropped('temperature')
    if (topP !== undefined && topP < MIN_TOP_P) warnings.noteDropped('topP')
    if (topK !== undefined) warnings.noteDropped('topK')
    temperature = undefined
    topP = topP !== undefined && topP < MIN_TOP_P ? undefined : topP
    topK = undefined
  }
  if (temperature !== undefined && topP !== undefined) {
    if (temperature === 1) temperature = undefined
    else {
      if (topP !== 1) warnings.noteDropped('topP')
      topP = undefined
    }
  }
  return { temperature, top_p: topP, top_k: topK }
}

const MIN_TOP_P = 0.95

function writeStop(stop: string[] | undefined, { warnings }: TargetContext): string[] | undefined {
  const kept = stop?.filter((text) => !isBlank(text)) ?? []
  if (stop && kept.length < stop.length) warnings.noteDropped('stop')
  return kept.length > 0 ? kept : undefined
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
      warnings.noteChanged('serviceTier', 'replaced')
      return { service_tier: 'auto' as const } // uses reserved capacity, where there is any
    case 'flex':
    case 'scale':
      warnings.noteDropped('serviceTier')
      return {}
    case undefined:
      return {}
    default:
      return assertNever(tier)
  }
}

/** The fields that ask for reasoning: by an effort, or by a budget of tokens. */
interface WrittenThinking {
  thinking?: WireThinkingConfig
  effort?: NonNullable<WireOutputConfig['effort']>
}

/**
 * Writes the fields that ask for reasoning. A model that reasons by a budget requires the thinking blocks of a tool loop to be sent back.
 * Where they are lost, as after an answer of another provider, thinking is disabled until the loop is over. It is also disabled when the
 * model is to continue an answer.
 */
function writeThinking(
  reasoning: ReasoningOptions | undefined,
  messages: readonly WireMessageParam[],
  { traits, warnings }: TargetContext,
): WrittenThinking {
  const { by } = traits.reasoning
  if (!reasoning || by === 'none') return {}
  const { effort, budget, show } = reasoning
  if (effort === undefined && budget === undefined) return {} // the client only chose how reasoning is shown
  if (effort === 'none') return by === 'effort' ? {} : { thinking: { type: traits.reasoning.off } }
  const wanted = effort && { effort: effort === 'minimal' ? ('low' as const) : effort }
  if (by === 'effort') return { ...wanted }
  const display = show && ({ display: show === 'none' ? 'omitted' : 'summarized' } as const)
  if (by === 'adaptive') return { thinking: { type: 'adaptive', ...display }, ...wanted }
  if (lacksThinking(messages)) {
    warnings.noteDropped('reasoning')
    return { thinking: { type: 'disabled' } }
  }
  return { thinking: { type: 'enabled', budget_tokens: budgetOf(reasoning, traits.reasoning), ...display } }
}

/** The reasoning tokens that a request may use. */
function budgetOf({ effort = 'medium', budget }: ReasoningOptions, { budgets }: ReasoningTraits): number {
  return typeof budget === 'number' ? budget : budgets[effort]
}

/** Does the assistant turn that the request continues begin without a thinking block? */
function lacksThinking(messages: readonly WireMessageParam[]): boolean {
  let first: WireMessageParam | undefined // of that turn: all after the last user message that is more than tool results
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant') first = message
    else if (message.role === 'system' || message.content[0]?.type !== 'tool_result') break
  }
  const type = first?.content[0]?.type
  return type !== undefined && type !== 'thinking' && type !== 'redacted_thinking'
}

/** The beta in which a request may choose what happens to thinking blocks whose context has changed. */
const BINDING_BETA = 'thinking-binding-controls-2026-08-01'

/**
 * Newer models bind each thinking block to everything before it, and refuse a conversation that was shortened or edited since. Clients of other
 * formats do not know that, so the request asks to drop such blocks instead.
 */
function dropUnboundThinking(body: WireRequest, { traits }: TargetContext): WireRequest {
  const { thinking = { type: 'adaptive' }, messages } = body // the default of these models
  if (!traits.reasoning.bindsReasoning || thinking.type !== 'adaptive' || !messages.some(hasThinking)) return body
  return { ...body, thinking: { ...thinking, block_binding: { prefix_mismatch_behavior: 'drop_block' } } }
}

const hasThinking = ({ content }: WireMessageParam): boolean =>
  content.some(({ type }) => type === 'thinking' || type === 'redacted_thinking')
