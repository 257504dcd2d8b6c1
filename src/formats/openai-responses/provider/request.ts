import type { JsonObject } from '../../../lib/json.ts'
import type { Effort } from '../../../traits.ts'
import {
  type CanonicalRequest,
  type OutputFormat,
  type ReasoningOptions,
  type RequestOptions,
  withOwn,
} from '../../canonical/request.ts'
import { isHosted } from '../../canonical/tools.ts'
import type { SystemTurn, Turn } from '../../canonical/turns.ts'
import { defined, withoutUndefined } from '../../canonical/values.ts'
import { wireCacheOptions, wireEndUser } from '../../openai-fields.ts'
import type { TargetContext, WrittenRequest } from '../../translator.ts'
import type { WireFormat } from '../wire.ts'
import { writeItems } from './conversation.ts'
import { writeToolChoice, writeTools } from './tools.ts'

/** Writes a request for a response. The provider stores nothing, so that its reasoning comes encrypted and returns with the next request. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const { stream, tools, toolChoice, output, options } = request
  const { instructions, turns } = moveInstructions(request)
  const body = {
    model: target.model,
    instructions,
    input: writeItems(turns, target),
    tools: writeTools(tools, target),
    tool_choice: writeToolChoice(toolChoice, tools, target),
    text: writeText(output, options.verbosity),
    ...writeOptions(options, target),
    include: writeInclude(request, target),
    store: false,
    stream: stream || undefined,
  }
  return { path: '/responses', headers: {}, body: withOwn(withoutUndefined(body), request, 'openai-responses') }
}

/**
 * Writes `include`. Models that do not reason refuse requests for encrypted reasoning. OpenAI names the pages of a search, and shows what its code
 * has printed, only where the request asks for it.
 */
function writeInclude({ options, tools }: CanonicalRequest, { traits }: TargetContext): string[] | undefined {
  const include: string[] = []
  if (traits.reasoning.by !== 'none') include.push('reasoning.encrypted_content')
  if (options.logprobs !== undefined) include.push('message.output_text.logprobs')
  if (traits.ownTools && tools.some(({ type }) => type === 'web-search')) include.push('web_search_call.action.sources')
  if (traits.ownTools && tools.some((tool) => isHosted(tool) && tool.name === CODE))
    include.push('code_interpreter_call.outputs')
  return include.length > 0 ? include : undefined
}

const CODE = 'code_interpreter'

/**
 * Moves leading instructions to the field `instructions`, if the client has sent them in a field of their own. They stay in the input if they
 * have cache marks, for which the field has no place, or may contain the word JSON, which providers look for in the input.
 */
function moveInstructions({ turns, output }: CanonicalRequest): {
  instructions: string | undefined
  turns: readonly Turn[]
} {
  const end = turns.findIndex((turn) => turn.role !== 'system' || turn.as !== 'instructions')
  const lead = turns.slice(0, end === -1 ? turns.length : end).filter(isSystem)
  const texts = lead.flatMap(({ content }) => content)
  if (texts.length === 0 || output?.type === 'json' || texts.some(({ cache }) => cache))
    return { instructions: undefined, turns }
  return { instructions: texts.map(({ text }) => text).join('\n\n'), turns: turns.slice(lead.length) }
}

const isSystem = (turn: Turn): turn is SystemTurn => turn.role === 'system'

/** Writes the options. The caller removes undefined ones. */
function writeOptions(options: RequestOptions, { warnings }: TargetContext) {
  const { cacheOptions, logprobs, reasoning } = options
  if (cacheOptions?.auto) warnings.noteDropped('cache_control')
  if (options.store) warnings.noteDropped('store') // the gateway could not refer to a stored response
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

/** Writes the options of reasoning, of which the format shows summaries in two lengths. */
function wireReasoning({ effort, show }: ReasoningOptions) {
  const summary = show === 'full' ? ('detailed' as const) : show === 'summary' ? ('auto' as const) : undefined
  return effort || summary
    ? defined<{ effort?: Effort; summary?: 'auto' | 'detailed' }>({ effort, summary })
    : undefined
}

/** Writes `text`: the output format and the verbosity. */
function writeText(output: OutputFormat | undefined, verbosity: RequestOptions['verbosity']) {
  const format = output && wireOutput(output)
  return format || verbosity ? defined<{ format?: WireFormat; verbosity?: string }>({ format, verbosity }) : undefined
}

function wireOutput(output: OutputFormat): WireFormat {
  if (output.type === 'json') return { type: 'json_object' }
  const { name = 'answer', description, schema, strict } = output
  return defined<WireFormat & { type: 'json_schema' }>({ type: 'json_schema', name, description, schema, strict })
}

/** The fields of a request that count; the others concern the answer. */
const COUNTED = ['model', 'instructions', 'input', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'text']

/** Writes a request to count the tokens of a request. */
export function writeCountRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest {
  const { body } = writeRequest(request, target)
  const kept = Object.entries(body).filter(([name]) => COUNTED.includes(name))
  return { path: '/responses/input_tokens', headers: {}, body: Object.fromEntries(kept) }
}

/** Parses the count in a provider's answer. */
export const parseCount = ({ input_tokens: tokens }: JsonObject): number | undefined =>
  typeof tokens === 'number' ? tokens : undefined
