import { isObject, type JsonObject } from '../../../lib/json.ts'
import { EFFORTS } from '../../canonical/base-traits.ts'
import { type Fields, fieldsOf } from '../../canonical/fields.ts'
import type { CanonicalRequest, OutputFormat, ReasoningOptions, RequestOptions } from '../../canonical/request.ts'
import { type OfferedTool, withoutVendorTools } from '../../canonical/tools.ts'
import type { SystemTurn } from '../../canonical/turns.ts'
import { defined } from '../../canonical/values.ts'
import { noteNames, type Synonyms, type Warnings } from '../../canonical/warnings.ts'
import { parseCacheOptions, parseEndUser, parseServiceTier } from '../../openai-fields.ts'
import type { ParseContext } from '../../translator.ts'
import { compactionIn } from '../stream-state.ts'
import { echoedFields } from './answer.ts'
import { parseInput } from './conversation.ts'
import { type Namespaces, parseToolChoice, parseTools } from './tools.ts'

/** Parses a client's request for a response. References to earlier requests are refused, since the gateway stores none. */
export function parseRequest(given: JsonObject, context: ParseContext): CanonicalRequest {
  const { warnings } = context
  const compact = context.isCompaction ? 'now' : compactionIn(given)
  const json = compact === 'now' ? withoutAnswerFields(given) : given
  const body = fieldsOf(json, '', warnings)
  noteNames(json, synonyms, warnings)
  refuseState(body, warnings)
  const namespaces: Namespaces = {}
  const declared = parseTools(body, namespaces, warnings)
  const { turns, tools } = parseInput(body, { ...context, namespaces, compact })
  const toolChoice = parseToolChoice(body, warnings)
  const kept = withoutVendorTools(withoutRepeatedTools([...declared, ...tools], warnings), toolChoice, warnings)
  const ownTools = kept.flatMap((tool) => (tool.type === 'function' && tool.own ? [tool.name] : []))
  const text = body.fields('text')
  const stream = body.flag('stream') ?? false
  const request = defined<CanonicalRequest>({
    model: body.text('model') ?? '',
    stream,
    streamUsage: stream,
    turns: [...parseInstructions(body), ...turns],
    tools: kept,
    toolChoice,
    output: parseOutput(text, warnings),
    options: parseOptions(body, text, warnings),
    compact,
    client: { echo: echoedFields(json), namespaces, ownTools, isKept: json.store !== false },
  })
  text?.drop()
  body.ignore('stream_options')
  if ((body.list('context_management') ?? []).some((entry) => !isObject(entry) || entry.type !== 'compaction'))
    warnings.noteDropped('context_management')
  if (json.truncation === 'disabled') body.ignore('truncation')
  body.drop()
  return request
}

/** A request for a compaction without the fields that only concern answers. */
const withoutAnswerFields = (json: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(json).filter(([name]) => !ANSWER_FIELDS.has(name)))

const ANSWER_FIELDS: ReadonlySet<string> = new Set([
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'max_output_tokens',
])

/** Refuses references to a conversation, a prompt or an answer that a vendor has stored. */
function refuseState(body: Fields, warnings: Warnings) {
  for (const name of ['previous_response_id', 'conversation'])
    if (body.any(name) !== undefined)
      warnings.refuse(name, 'nothing is stored here: send the whole conversation as "input".')
  if (body.any('prompt') !== undefined) warnings.refuse('prompt', 'is stored at one vendor and cannot be passed on.')
  if (body.flag('background')) warnings.refuse('background', 'nothing is stored here: wait for the answer.')
}

function parseInstructions(body: Fields): SystemTurn[] {
  const text = body.text('instructions')
  return text ? [{ role: 'system', as: 'instructions', content: [{ type: 'text', text }] }] : []
}

/** Keeps the first of several declarations of a tool: clients repeat those that they have made in the input. */
function withoutRepeatedTools(tools: readonly OfferedTool[], warnings: Warnings): OfferedTool[] {
  const known = new Map<string, OfferedTool>()
  return tools.filter((tool) => {
    if (tool.type === 'web-search' || tool.type === 'vendor') return true
    const first = known.get(tool.name)
    if (!first) known.set(tool.name, tool)
    else if (JSON.stringify(first) !== JSON.stringify(tool)) warnings.noteDropped(warnings.pathOf(tool, 'tools'))
    return !first
  })
}

/** Parses the options: all fields besides the conversation, the tools and the output format; `text`: the field of that name. */
function parseOptions(body: Fields, text: Fields | undefined, warnings: Warnings): RequestOptions {
  return defined<RequestOptions>({
    cacheKey: body.text('prompt_cache_key'),
    cacheOptions: parseCacheOptions(body),
    endUser: parseEndUser(body),
    frequencyPenalty: body.number('frequency_penalty'),
    labels: body.textsByName('metadata'),
    logprobs: parseLogprobs(body, warnings),
    maxOutputTokens: body.number('max_output_tokens'),
    moderation: body.object('moderation'),
    parallelToolCalls: body.flag('parallel_tool_calls'),
    presencePenalty: body.number('presence_penalty'),
    reasoning: parseReasoning(body),
    serviceTier: parseTier(body, warnings),
    store: body.flag('store') || undefined, // no other format stores anything by default
    temperature: body.number('temperature'),
    topP: body.number('top_p'),
    verbosity: text?.wordOrDrop('verbosity', ['low', 'medium', 'high']),
  })
}

/** Parses `include`, which asks for the probabilities of tokens, and `top_logprobs`, which asks for alternatives. */
function parseLogprobs(body: Fields, warnings: Warnings): number | undefined {
  const top = body.number('top_logprobs')
  const included = body.texts('include') ?? []
  const isIncluded = included.includes(LOGPROBS)
  if (included.some((name) => name !== LOGPROBS && name !== ENCRYPTED_REASONING)) warnings.noteDropped('include')
  return isIncluded || top ? (top ?? 0) : undefined
}

const LOGPROBS = 'message.output_text.logprobs'

/** Needs no request: the gateway always includes it. */
const ENCRYPTED_REASONING = 'reasoning.encrypted_content'

function parseReasoning(body: Fields): ReasoningOptions | undefined {
  const reasoning = body.fields('reasoning')
  if (!reasoning) return undefined
  const { value } = reasoning
  const effort = reasoning.wordOrDrop('effort', EFFORTS)
  const summary = reasoning.text('summary') ?? reasoning.text('generate_summary')
  if (value.context === 'auto') reasoning.ignore('context')
  if (value.mode === 'standard') reasoning.ignore('mode')
  reasoning.ignore('generate_summary')
  reasoning.drop()
  const show = summary === undefined ? undefined : summary === 'detailed' ? 'full' : 'summary'
  return effort === undefined && show === undefined ? undefined : defined<ReasoningOptions>({ effort, show })
}

function parseTier(body: Fields, warnings: Warnings): RequestOptions['serviceTier'] {
  if (body.value.service_tier !== 'ultrafast') return parseServiceTier(body)
  body.ignore('service_tier')
  warnings.noteChanged('service_tier', 'replaced')
  return 'fast'
}

/** Parses `text.format`. */
function parseOutput(text: Fields | undefined, warnings: Warnings): OutputFormat | undefined {
  const format = text?.fields('format')
  const type = format?.word('type', ['text', 'json_object', 'json_schema'])
  if (type === 'json_object') return { type: 'json' }
  if (!format || type !== 'json_schema') return undefined
  const output = defined<OutputFormat & { type: 'json-schema' }>({
    type: 'json-schema',
    schema: format.object('schema') ?? {},
    name: format.text('name'),
    description: format.text('description'),
    strict: format.flag('strict'),
  })
  format.drop()
  warnings.place(output, format.at)
  return output
}

/** For each option its names in order of precedence: newer ones, older ones, and fields that set a part of it. */
const synonyms: Synonyms = {
  cacheOptions: ['prompt_cache_options', 'prompt_cache_retention'],
  endUser: ['safety_identifier', 'user'],
  logprobs: ['top_logprobs', 'include'],
  reasoning: ['reasoning.effort', 'reasoning'],
}
