import type { CanonicalRequest, OutputFormat, RequestOptions } from '../canonical/request.ts'
import { shortId } from '../canonical/short-id.ts'
import { strictSchema } from '../strict-schema.ts'
import type { TargetContext } from '../translator.ts'
import { wireMark } from './marks.ts'
import { isBlank } from './parts-write.ts'
import { budgetOf, writeThinking } from './thinking-write.ts'
import type { WireMessageParam, WireOutputConfig, WireThinkingConfig } from './wire-request.ts'

/** The options in Anthropic's names. Undefined ones are left out by the caller. */
export function writeOptions(
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
  if (Object.keys(others).length > 0) target.warnings.dropped('cacheOptions')
  return {
    thinking,
    output_config: effort || output?.type === 'json-schema' ? config : undefined,
    ...writeSampling(options, thinking, target),
    stop_sequences: writeStop(options.stop, target),
    metadata: options.endUser === undefined ? undefined : { user_id: shortId(options.endUser, MAX_USER) },
    ...writeTier(options.serviceTier, target),
    ...wireMark(auto, target),
  }
}

/** Longer ones are refused. */
const MAX_USER = 256

/** The limit that the format demands: the client's, the model's, or one that leaves room for an answer behind the thoughts. */
export function limitOf({ maxOutputTokens, reasoning }: RequestOptions, { traits }: TargetContext): number {
  const isThinking = reasoning && reasoning.effort !== 'none'
  const thoughts = isThinking ? budgetOf(reasoning, traits.reasoning) : 0
  return maxOutputTokens ?? traits.maxOutputTokens ?? ROOM + thoughts
}

const ROOM = 8_192

/** A name and a description have their place in the schema here. */
function wireSchema(
  { schema, name, description }: OutputFormat & { type: 'json-schema' },
  { warnings }: TargetContext,
) {
  const named = { ...(name && { title: name }), ...(description && { description }), ...schema }
  return strictSchema(named, (change) => warnings.changed('output', change))
}

/** A model that thinks chooses its tokens by itself; and it takes one of temperature and `top_p`. */
function writeSampling(options: RequestOptions, thinking: WireThinkingConfig | undefined, { warnings }: TargetContext) {
  let { temperature, topP, topK } = options
  if (thinking && thinking.type !== 'disabled') {
    if (temperature !== undefined && temperature !== 1) warnings.dropped('temperature')
    if (topP !== undefined && topP < MIN_TOP_P) warnings.dropped('topP')
    if (topK !== undefined) warnings.dropped('topK')
    temperature = undefined
    topP = topP !== undefined && topP < MIN_TOP_P ? undefined : topP
    topK = undefined
  }
  if (temperature !== undefined && topP !== undefined) {
    if (temperature === 1) temperature = undefined
    else {
      if (topP !== 1) warnings.dropped('topP')
      topP = undefined
    }
  }
  return { temperature, top_p: topP, top_k: topK }
}

const MIN_TOP_P = 0.95

function writeStop(stop: string[] | undefined, { warnings }: TargetContext): string[] | undefined {
  const said = stop?.filter((text) => !isBlank(text)) ?? []
  if (stop && said.length < stop.length) warnings.dropped('stop')
  return said.length > 0 ? said : undefined
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
      warnings.changed('serviceTier', 'replaced')
      return { service_tier: 'auto' as const } // uses what was paid for in advance
    case 'flex':
    case 'scale':
      warnings.dropped('serviceTier')
  }
  return {}
}
