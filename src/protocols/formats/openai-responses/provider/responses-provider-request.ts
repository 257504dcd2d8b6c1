import type { JsonObject } from '../../../../lib/json.ts'
import type { Effort } from '../../../../traits.ts'
import {
  type CanonicalRequest,
  mergeVendorFields,
  type OutputFormat,
  type ReasoningOptions,
  type RequestOptions,
} from '../../canonical/canonical-request.ts'
import { isHostedTool } from '../../canonical/canonical-tools.ts'
import type { SystemTurn, Turn } from '../../canonical/canonical-turns.ts'
import { deleteUndefined, omitUndefined } from '../../canonical/canonical-values.ts'
import { writeCacheOptions, writeEndUser } from '../../openai-fields.ts'
import type { TargetContext, UpstreamRequest } from '../../translator.ts'
import type { WireFormat } from '../responses-wire.ts'
import { writeItems } from './responses-provider-conversation.ts'
import { writeToolChoice, writeTools } from './responses-provider-tools.ts'

/** Writes a Responses request. The provider stores nothing, so its encrypted reasoning goes back with the next request. */
export function writeRequest(request: CanonicalRequest, target: TargetContext): UpstreamRequest {
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
  return {
    path: '/responses',
    headers: {},
    body: mergeVendorFields(deleteUndefined(body), request, 'openai-responses'),
  }
}

/**
 * Writes `include`. Models that don't reason reject requests for encrypted reasoning. OpenAI only returns a search's sources and code output if the
 * request includes them.
 */
function writeInclude({ options, tools }: CanonicalRequest, { traits }: TargetContext): string[] | undefined {
  const include: string[] = []
  if (traits.reasoning.control !== 'none') include.push('reasoning.encrypted_content')
  if (options.logprobs !== undefined) include.push('message.output_text.logprobs')
  if (traits.ownTools && tools.some(({ type }) => type === 'web-search')) include.push('web_search_call.action.sources')
  if (traits.ownTools && tools.some((tool) => isHostedTool(tool) && tool.name === 'code_interpreter'))
    include.push('code_interpreter_call.outputs')
  return include.length > 0 ? include : undefined
}

/**
 * Moves leading instructions to the `instructions` field if the client sent them in such a field. They stay in the input if they have cache
 * breakpoints, which the field doesn't support, or if the output is JSON, because providers look for the word JSON in the input.
 */
function moveInstructions({ turns, output }: CanonicalRequest): {
  instructions: string | undefined
  turns: readonly Turn[]
} {
  const endIndex = turns.findIndex((turn) => turn.role !== 'system' || turn.sentAs !== 'instructions')
  const leadingTurns = turns.slice(0, endIndex === -1 ? turns.length : endIndex).filter(isSystem)
  const texts = leadingTurns.flatMap(({ content }) => content)
  if (texts.length === 0 || output?.type === 'json' || texts.some(({ cache }) => cache))
    return { instructions: undefined, turns }
  return { instructions: texts.map(({ text }) => text).join('\n\n'), turns: turns.slice(leadingTurns.length) }
}

const isSystem = (turn: Turn): turn is SystemTurn => turn.role === 'system'

/** Writes the options. The caller removes undefined fields. */
function writeOptions(options: RequestOptions, { warnings }: TargetContext) {
  const { cacheOptions, logprobs, reasoning } = options
  if (cacheOptions?.auto) warnings.recordDrop('cache_control')
  if (options.store) warnings.recordDrop('store') // the gateway couldn't refer to a stored response
  return {
    max_output_tokens: options.maxOutputTokens,
    temperature: options.temperature,
    top_p: options.topP,
    frequency_penalty: options.frequencyPenalty,
    presence_penalty: options.presencePenalty,
    top_logprobs: logprobs || undefined,
    parallel_tool_calls: options.parallelToolCalls,
    reasoning: reasoning && writeReasoning(reasoning),
    moderation: options.moderation,
    safety_identifier: writeEndUser(options.endUser),
    metadata: options.labels,
    service_tier: options.serviceTier,
    prompt_cache_key: options.cacheKey,
    ...writeCacheOptions(options),
  }
}

function writeReasoning({ effort, show }: ReasoningOptions) {
  const summary = show === 'full' ? ('detailed' as const) : show === 'summary' ? ('auto' as const) : undefined
  return effort || summary
    ? omitUndefined<{ effort?: Effort; summary?: 'auto' | 'detailed' }>({ effort, summary })
    : undefined
}

/** Writes `text`: the output format and the verbosity. */
function writeText(output: OutputFormat | undefined, verbosity: RequestOptions['verbosity']) {
  const format = output && writeOutput(output)
  return format || verbosity
    ? omitUndefined<{ format?: WireFormat; verbosity?: string }>({ format, verbosity })
    : undefined
}

function writeOutput(output: OutputFormat): WireFormat {
  if (output.type === 'json') return { type: 'json_object' }
  const { name = 'answer', description, schema, strict } = output
  return omitUndefined<WireFormat & { type: 'json_schema' }>({ type: 'json_schema', name, description, schema, strict })
}

/** The request fields that count as input tokens. All other fields only concern the response. */
const COUNT_REQUEST_FIELDS = [
  'model',
  'instructions',
  'input',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
]

/** Writes a token-count request. */
export function writeCountRequest(request: CanonicalRequest, target: TargetContext): UpstreamRequest {
  const { body } = writeRequest(request, target)
  const fields = Object.entries(body).filter(([name]) => COUNT_REQUEST_FIELDS.includes(name))
  return { path: '/responses/input_tokens', headers: {}, body: Object.fromEntries(fields) }
}

/** Parses the token count in a provider's response. */
export const parseCount = ({ input_tokens: tokens }: JsonObject): number | undefined =>
  typeof tokens === 'number' ? tokens : undefined
