import type { Effort } from '../../traits.ts'
import { defined } from '../canonical/defined.ts'
import type { OutputFormat, ReasoningOptions, RequestOptions } from '../canonical/request.ts'
import { wireCacheOptions, wireEndUser } from '../openai-options.ts'
import type { TargetContext } from '../translator.ts'
import type { WireFormat } from './wire.ts'

/** The options in this format's names. Undefined ones are left out by the caller. */
export function writeOptions(options: RequestOptions, { warnings }: TargetContext) {
  const { cacheOptions, logprobs, reasoning } = options
  if (cacheOptions?.auto) warnings.dropped('cache_control')
  if (options.store) warnings.dropped('store') // what is stored there could not be reached from here
  return {
    max_output_tokens: options.maxOutputTokens,
    temperature: options.temperature,
    top_p: options.topP,
    frequency_penalty: options.frequencyPenalty,
    presence_penalty: options.presencePenalty,
    top_logprobs: logprobs || undefined,
    parallel_tool_calls: options.parallelToolCalls,
    reasoning: reasoning && wireReasoning(reasoning),
    moderation: options.moderation,
    safety_identifier: wireEndUser(options.endUser),
    metadata: options.labels,
    service_tier: options.serviceTier,
    prompt_cache_key: options.cacheKey,
    ...wireCacheOptions(cacheOptions),
  }
}

/** Only summaries of thoughts are shown, in two lengths. */
function wireReasoning({ effort, show }: ReasoningOptions) {
  const summary = show === 'full' ? ('detailed' as const) : show === 'summary' ? ('auto' as const) : undefined
  return effort || summary
    ? defined<{ effort?: Effort; summary?: 'auto' | 'detailed' }>({ effort, summary })
    : undefined
}

/** `text`: the form of the answer, and how much it says. */
export function writeText(output: OutputFormat | undefined, verbosity: RequestOptions['verbosity']) {
  const format = output && wireOutput(output)
  return format || verbosity ? defined<{ format?: WireFormat; verbosity?: string }>({ format, verbosity }) : undefined
}

function wireOutput(output: OutputFormat): WireFormat {
  if (output.type === 'json') return { type: 'json_object' }
  const { name = 'answer', description, schema, strict } = output
  return defined<WireFormat & { type: 'json_schema' }>({ type: 'json_schema', name, description, schema, strict })
}
