import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { ALL_EFFORTS } from '../../canonical/base-traits.ts'
import { type Fields, readFields } from '../../canonical/canonical-fields.ts'
import type {
  CanonicalRequest,
  OutputFormat,
  ReasoningOptions,
  RequestOptions,
} from '../../canonical/canonical-request.ts'
import { dropVendorTools, type OfferedTool } from '../../canonical/canonical-tools.ts'
import type { SystemTurn } from '../../canonical/canonical-turns.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import { type FieldSynonyms, recordFieldNames, type Warnings } from '../../canonical/canonical-warnings.ts'
import { parseCacheOptions, parseEndUser, parseJsonSchema, parseServiceTier } from '../../openai-fields.ts'
import type { ParseContext } from '../../translator.ts'
import { readCompactionMode } from '../compaction-mode.ts'
import { parseInput } from './responses-client-conversation.ts'
import { getEchoedFields } from './responses-client-response.ts'
import { type Namespaces, parseToolChoice, parseTools } from './responses-client-tools.ts'

/** Parses a client's Responses request. Rejects references to earlier requests, because the gateway doesn't store them. */
export function parseRequest(requestBody: JsonObject, context: ParseContext): CanonicalRequest {
  const { warnings } = context
  const compact = context.isCompaction ? 'now' : readCompactionMode(requestBody)
  const json =
    compact === 'now'
      ? Object.fromEntries(Object.entries(requestBody).filter(([name]) => !RESPONSE_FIELDS.has(name)))
      : requestBody
  const body = readFields(json, '', warnings)
  recordFieldNames(json, fieldSynonyms, warnings)
  rejectServerState(body, warnings)
  const namespaces: Namespaces = {}
  const requestTools = parseTools(body, namespaces, warnings)
  const { turns, tools: inputTools } = parseInput(body, { ...context, namespaces, compact })
  const toolChoice = parseToolChoice(body, warnings)
  const allTools = removeRepeatedTools([...requestTools, ...inputTools], warnings)
  const tools = dropVendorTools(allTools, toolChoice, warnings)
  const vendorTools = tools.flatMap((tool) => (tool.type === 'function' && tool.native ? [tool.name] : []))
  const text = body.fields('text')
  const stream = body.boolean('stream') ?? false
  const request = omitUndefined<CanonicalRequest>({
    model: body.string('model') ?? '',
    stream,
    streamUsage: stream,
    turns: [...parseInstructions(body), ...turns],
    tools,
    toolChoice,
    output: parseOutput(text, warnings),
    options: parseOptions(body, text, warnings),
    compact,
    client: { echo: getEchoedFields(json), namespaces, ownTools: vendorTools, isKept: json.store !== false },
  })
  text?.dropUnread()
  body.ignore('stream_options')
  if ((body.list('context_management') ?? []).some((entry) => !isObject(entry) || entry.type !== 'compaction'))
    warnings.recordDrop('context_management')
  if (json.truncation === 'disabled') body.ignore('truncation')
  body.dropUnread()
  return request
}

/** Fields that only concern responses, so that compaction requests ignore them. */
const RESPONSE_FIELDS: ReadonlySet<string> = new Set([
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'max_output_tokens',
])

function rejectServerState(body: Fields, warnings: Warnings) {
  for (const name of ['previous_response_id', 'conversation'])
    if (body.any(name) !== undefined)
      warnings.reject(name, 'this gateway does not store responses. Send the whole conversation as "input".')
  if (body.any('prompt') !== undefined)
    warnings.reject('prompt', 'is stored at one vendor and cannot be sent to another.')
  if (body.boolean('background'))
    warnings.reject('background', 'this gateway does not store responses. Wait for the response.')
}

function parseInstructions(body: Fields): SystemTurn[] {
  const text = body.string('instructions')
  return text ? [{ role: 'system', sentAs: 'instructions', content: [{ type: 'text', text }] }] : []
}

/** Keeps the first declaration of each tool. Clients repeat declarations from the input. */
function removeRepeatedTools(tools: readonly OfferedTool[], warnings: Warnings): OfferedTool[] {
  const toolsByName = new Map<string, OfferedTool>()
  return tools.filter((tool) => {
    if (tool.type === 'web-search' || tool.type === 'vendor') return true
    const firstTool = toolsByName.get(tool.name)
    if (!firstTool) toolsByName.set(tool.name, tool)
    else if (JSON.stringify(firstTool) !== JSON.stringify(tool)) warnings.recordDrop(warnings.getPath(tool, 'tools'))
    return !firstTool
  })
}

function parseOptions(body: Fields, text: Fields | undefined, warnings: Warnings): RequestOptions {
  return omitUndefined<RequestOptions>({
    cacheKey: body.string('prompt_cache_key'),
    ...parseCacheOptions(body),
    endUser: parseEndUser(body),
    frequencyPenalty: body.number('frequency_penalty'),
    labels: body.stringsByName('metadata'),
    logprobs: parseLogprobs(body, warnings),
    maxOutputTokens: body.number('max_output_tokens'),
    moderation: body.object('moderation'),
    parallelToolCalls: body.boolean('parallel_tool_calls'),
    presencePenalty: body.number('presence_penalty'),
    reasoning: parseReasoning(body),
    serviceTier: parseTier(body, warnings),
    store: body.boolean('store') || undefined, // sent only if set, because no other format stores anything by default
    temperature: body.number('temperature'),
    topP: body.number('top_p'),
    verbosity: text?.oneOfOrDrop('verbosity', ['low', 'medium', 'high']),
  })
}

/** Parses `include`, which requests token probabilities, and `top_logprobs`, which requests alternatives. */
function parseLogprobs(body: Fields, warnings: Warnings): number | undefined {
  const topLogprobs = body.number('top_logprobs')
  const includedFields = body.strings('include') ?? []
  const includesLogprobs = includedFields.includes(LOGPROBS_INCLUDE)
  if (includedFields.some((name) => name !== LOGPROBS_INCLUDE && name !== REASONING_INCLUDE))
    warnings.recordDrop('include')
  return includesLogprobs || topLogprobs ? (topLogprobs ?? 0) : undefined
}

const LOGPROBS_INCLUDE = 'message.output_text.logprobs'

/** The `include` value for encrypted reasoning, which the gateway always includes. */
const REASONING_INCLUDE = 'reasoning.encrypted_content'

function parseReasoning(body: Fields): ReasoningOptions | undefined {
  const reasoning = body.fields('reasoning')
  if (!reasoning) return undefined
  const { value } = reasoning
  const effort = reasoning.oneOfOrDrop('effort', ALL_EFFORTS)
  const summary = reasoning.string('summary') ?? reasoning.string('generate_summary')
  if (value.context === 'auto') reasoning.ignore('context')
  if (value.mode === 'standard') reasoning.ignore('mode')
  reasoning.ignore('generate_summary')
  reasoning.dropUnread()
  const show = summary === undefined ? undefined : summary === 'detailed' ? 'full' : 'summary'
  return effort === undefined && show === undefined ? undefined : omitUndefined<ReasoningOptions>({ effort, show })
}

function parseTier(body: Fields, warnings: Warnings): RequestOptions['serviceTier'] {
  if (body.value.service_tier !== 'ultrafast') return parseServiceTier(body)
  body.ignore('service_tier')
  warnings.recordChange('service_tier', 'replaced')
  return 'fast'
}

function parseOutput(text: Fields | undefined, warnings: Warnings): OutputFormat | undefined {
  const format = text?.fields('format')
  const type = format?.oneOf('type', ['text', 'json_object', 'json_schema'])
  if (type === 'json_object') return { type: 'json' }
  if (!format || type !== 'json_schema') return undefined
  return parseJsonSchema(format, warnings)
}

/** Each option's names in order of precedence: newer names, older names, and fields that set a part of the option. */
const fieldSynonyms: FieldSynonyms = {
  endUser: ['safety_identifier', 'user'],
  logprobs: ['top_logprobs', 'include'],
  reasoning: ['reasoning.effort', 'reasoning'],
}
