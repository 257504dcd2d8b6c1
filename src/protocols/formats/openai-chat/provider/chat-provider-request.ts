import { assertNever } from '../../../../lib/assert-never.ts'
import type { JsonObject } from '../../../../lib/json.ts'
import type { ReasoningTraits } from '../../../../traits.ts'
import type {
  CanonicalRequest,
  OutputFormat,
  ReasoningOptions,
  RequestOptions,
} from '../../canonical/canonical-request.ts'
import { deleteUndefined } from '../../canonical/canonical-values.ts'
import { writeCacheOptions, writeEndUser } from '../../openai-fields.ts'
import type { TargetContext, UpstreamRequest } from '../../translator.ts'
import { writeTurns } from './chat-provider-conversation.ts'
import { writeToolChoice, writeTools } from './chat-provider-tools.ts'

/** Writes a Chat Completions request. Streaming requests also request usage, so that the gateway can count tokens. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): UpstreamRequest {
  const { stream, turns, tools, toolChoice, output, options } = request
  const body = {
    model: target.model,
    messages: writeTurns(turns, target),
    ...writeTools(tools, target),
    tool_choice: writeToolChoice(toolChoice, tools, target),
    response_format: writeOutput(output),
    ...writeOptions(options, target),
    stream: stream || undefined,
    stream_options: stream && target.traits.streamUsage ? { include_usage: true } : undefined,
  }
  return { path: '/chat/completions', headers: {}, body: deleteUndefined(body) }
}

/** Writes the options under OpenAI's or the vendor's names. The caller removes undefined fields. */
function writeOptions(options: RequestOptions, { traits, warnings }: TargetContext) {
  const { cacheOptions, logprobs, maxOutputTokens, prediction, reasoning, speech } = options
  if (cacheOptions?.auto) warnings.recordDrop('cache_control')
  const showsReasoning = reasoning?.show !== undefined && reasoning.show !== 'none'
  if (showsReasoning && traits.reasoning.replay === 'never') warnings.recordDrop('show') // OpenAI doesn't show reasoning in this format
  return {
    [traits.outputLimitField]: maxOutputTokens,
    temperature: options.temperature,
    top_p: options.topP,
    top_k: options.topK,
    frequency_penalty: options.frequencyPenalty,
    presence_penalty: options.presencePenalty,
    seed: options.seed,
    stop: options.stop,
    n: options.candidates,
    logit_bias: options.logitBias,
    logprobs: logprobs === undefined ? undefined : true,
    top_logprobs: logprobs || undefined,
    parallel_tool_calls: options.parallelToolCalls,
    ...(reasoning && writeReasoning(reasoning, traits.reasoning)),
    verbosity: options.verbosity,
    modalities: options.modalities,
    audio: speech && { format: 'pcm16', ...speech },
    prediction: prediction === undefined ? undefined : { type: 'content', content: prediction },
    moderation: options.moderation,
    safety_identifier: writeEndUser(options.endUser),
    metadata: options.labels,
    service_tier: options.serviceTier,
    store: options.store,
    prompt_cache_key: options.cacheKey,
    ...writeCacheOptions(options),
  }
}

function writeOutput(output: OutputFormat | undefined): JsonObject | undefined {
  if (!output) return undefined
  if (output.type === 'json') return { type: 'json_object' }
  const { name = 'answer', description, schema, strict } = output
  return { type: 'json_schema', json_schema: { name, description, schema, strict } }
}

function writeReasoning({ effort, budget, show }: ReasoningOptions, { control }: ReasoningTraits): JsonObject {
  if (effort === undefined && budget === undefined && control !== 'reasoning-object') return {} // these fields would only set whether to show reasoning
  const isEnabled = effort !== 'none'
  const budgetTokens = typeof budget === 'number' && isEnabled ? budget : undefined
  switch (control) {
    case 'none':
      return {}
    case 'thinking':
      return { thinking: { type: isEnabled ? 'enabled' : 'disabled' } }
    case 'thinking-effort':
      return {
        thinking: { type: isEnabled ? 'enabled' : 'disabled' },
        ...(isEnabled && effort && { reasoning_effort: effort }),
      }
    case 'enable_thinking':
      return { enable_thinking: isEnabled, ...(budgetTokens !== undefined && { thinking_budget: budgetTokens }) }
    case 'reasoning-object':
      return { reasoning: { ...(effort ? { effort } : { enabled: true }), ...(show === 'none' && { exclude: true }) } }
    case 'chat-template':
      return { chat_template_kwargs: { enable_thinking: isEnabled } }
    case 'effort':
    case 'budget':
    case 'adaptive':
    case 'level':
    case 'reasoning_config':
      return effort ? { reasoning_effort: effort } : {} // without an effort, the provider chooses
    default:
      return assertNever(control)
  }
}
