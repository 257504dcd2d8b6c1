import type { ResponseCreateParams } from 'openai/resources/responses/responses'
import * as v from 'valibot'
import { mark } from './openai-breakpoint.ts'
import {
  count,
  createValidator,
  dataUrl,
  isStrict,
  json,
  labels,
  listBroken,
  name,
  nonEmptyArray,
  numberBetween,
  webUrl,
} from './validator.ts'

/*
 * Validates a request to OpenAI Responses from a stateless gateway, and rejects unknown fields as OpenAI does. Sources: the API reference, and the
 * types of OpenAI's client, which everything valid here must fit.
 */

const maybe = v.exactOptional

const text = v.strictObject({ type: v.literal('input_text'), text: v.string(), ...mark })
const getImage = <T extends v.ObjectEntries>(source: T) =>
  v.strictObject({
    type: v.literal('input_image'),
    detail: v.picklist(['auto', 'low', 'high', 'original']),
    ...source,
    ...mark,
  })
const getFile = <T extends v.ObjectEntries>(source: T) =>
  v.strictObject({ type: v.literal('input_file'), ...source, filename: maybe(v.string()), ...mark })
const part = v.union([
  text,
  getImage({ image_url: v.union([dataUrl, webUrl]) }),
  getImage({ file_id: v.string() }),
  getFile({ file_data: dataUrl }),
  getFile({ file_url: webUrl }),
  getFile({ file_id: v.string() }),
])
const parts = v.union([v.string(), nonEmptyArray(part)])

const message = <R extends string>(role: R) =>
  v.strictObject({ type: v.literal('message'), role: v.literal(role), content: parts })
const outputText = v.strictObject({
  type: v.literal('message'),
  role: v.literal('assistant'),
  content: v.union([
    v.string(),
    nonEmptyArray(
      v.variant('type', [
        v.strictObject({ type: v.literal('output_text'), text: v.string(), annotations: v.array(v.unknown()) }),
        v.strictObject({ type: v.literal('refusal'), refusal: v.string() }),
      ]),
    ),
  ]),
  phase: maybe(v.picklist(['commentary', 'final_answer'])),
})
const callId = v.pipe(v.string(), v.minLength(1), v.maxLength(64))
const item = v.union([
  message('user'),
  message('system'),
  message('developer'),
  outputText,
  v.strictObject({
    type: v.literal('reasoning'),
    id: maybe(v.string()),
    summary: v.array(v.strictObject({ type: v.literal('summary_text'), text: v.string() })),
    content: maybe(v.array(v.strictObject({ type: v.literal('reasoning_text'), text: v.string() }))),
    encrypted_content: maybe(v.string()),
  }),
  v.strictObject({ type: v.literal('compaction'), id: maybe(v.string()), encrypted_content: v.string() }),
  v.strictObject({ type: v.literal('function_call'), call_id: callId, name, arguments: v.string() }),
  v.strictObject({ type: v.literal('custom_tool_call'), call_id: callId, name, input: v.string() }),
  v.strictObject({ type: v.literal('function_call_output'), call_id: callId, output: parts }),
  v.strictObject({ type: v.literal('custom_tool_call_output'), call_id: callId, output: parts }),
])

const tool = v.variant('type', [
  v.strictObject({
    type: v.literal('function'),
    name,
    description: maybe(v.string()),
    parameters: json,
    strict: v.boolean(),
    output_schema: maybe(json),
  }),
  v.strictObject({
    type: v.literal('custom'),
    name,
    description: maybe(v.string()),
    format: maybe(
      v.strictObject({
        type: v.literal('grammar'),
        syntax: v.picklist(['lark', 'regex']),
        definition: v.string(),
      }),
    ),
  }),
  v.strictObject({ type: v.literal('shell'), environment: maybe(v.strictObject({ type: v.literal('local') })) }),
  v.strictObject({ type: v.picklist(['local_shell', 'apply_patch']) }),
  v.strictObject({
    type: v.literal('web_search'),
    search_context_size: maybe(v.picklist(['low', 'medium', 'high'])),
    user_location: maybe(
      v.strictObject({
        type: v.literal('approximate'),
        city: maybe(v.string()),
        country: maybe(v.string()),
        region: maybe(v.string()),
        timezone: maybe(v.string()),
      }),
    ),
    filters: maybe(v.strictObject({ allowed_domains: nonEmptyArray(v.string()) })),
  }),
])
const named = v.strictObject({ type: v.picklist(['function', 'custom']), name })
const choice = v.union([
  v.picklist(['auto', 'none', 'required']),
  v.strictObject({ type: v.literal('function'), name }),
  v.strictObject({ type: v.literal('custom'), name }),
  v.strictObject({
    type: v.literal('allowed_tools'),
    mode: v.picklist(['auto', 'required']),
    tools: nonEmptyArray(named),
  }),
])
const output = v.variant('type', [
  v.strictObject({ type: v.literal('text') }),
  v.strictObject({ type: v.literal('json_object') }),
  v.strictObject({
    type: v.literal('json_schema'),
    name,
    schema: json,
    description: maybe(v.string()),
    strict: maybe(v.boolean()),
  }),
])

const request = v.strictObject({
  model: v.string(),
  input: v.union([v.string(), nonEmptyArray(item)]),
  instructions: maybe(v.string()),
  tools: maybe(nonEmptyArray(tool)),
  tool_choice: maybe(choice),
  parallel_tool_calls: maybe(v.boolean()),
  text: maybe(v.strictObject({ format: maybe(output), verbosity: maybe(v.picklist(['low', 'medium', 'high'])) })),
  reasoning: maybe(
    v.strictObject({
      effort: maybe(v.picklist(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
      summary: maybe(v.picklist(['auto', 'concise', 'detailed'])),
    }),
  ),
  include: maybe(
    v.array(
      v.picklist(['reasoning.encrypted_content', 'message.output_text.logprobs', 'web_search_call.action.sources']),
    ),
  ),
  store: v.literal(false),
  stream: maybe(v.boolean()),
  max_output_tokens: maybe(v.pipe(count, v.minValue(16))),
  temperature: maybe(numberBetween(0, 2)),
  top_p: maybe(numberBetween(0, 1)),
  top_logprobs: maybe(numberBetween(0, 20)),
  service_tier: maybe(v.picklist(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])),
  metadata: maybe(v.pipe(labels, v.maxEntries(16))),
  safety_identifier: maybe(v.pipe(v.string(), v.maxLength(128))),
  prompt_cache_key: maybe(v.string()),
  moderation: maybe(v.looseObject({ model: v.string() })),
  prompt_cache_options: maybe(
    v.strictObject({ mode: maybe(v.picklist(['implicit', 'explicit'])), ttl: maybe(v.literal('30m')) }),
  ),
  prompt_cache_retention: maybe(v.picklist(['in_memory', '24h'])),
})

type Request = v.InferOutput<typeof request>

/**
 * Compiles only if OpenAI's client accepts everything that is valid here. Excludes `input`, because the client's types require IDs, which only stored
 * items have.
 */
export const toClientType = ({ input: _, ...body }: Request): ResponseCreateParams => body

export const responsesProblems = createValidator(request, (body) => [
  ...listBroken({
    'tool_choice is only allowed when tools are specified': !body.tool_choice || !!body.tools,
    'parallel_tool_calls is only allowed when tools are specified':
      body.parallel_tool_calls === undefined || !!body.tools,
    'a tool choice must name one of the tools': getChosen(body).every((tool) => getNames(body).includes(tool)),
    'tool names must be unique': new Set(getNames(body)).size === getNames(body).length,
    'text.format json_object needs the word json in the input':
      body.text?.format?.type !== 'json_object' || /json/i.test(JSON.stringify(body.input)),
    'a strict schema must be closed and require all its properties': strictSchemas(body).every(isStrict),
  }),
  ...unpaired(typeof body.input === 'string' ? [] : body.input),
])

const getNames = ({ tools = [] }: Request) => tools.flatMap((each) => ('name' in each ? [each.name] : []))

function getChosen({ tool_choice: choice }: Request): string[] {
  if (typeof choice !== 'object') return []
  return choice.type === 'allowed_tools' ? choice.tools.map((each) => each.name) : [choice.name]
}

function strictSchemas({ tools = [], text: { format } = {} }: Request): unknown[] {
  const inTools = tools.flatMap((each) => (each.type === 'function' && each.strict ? each.parameters : []))
  return format?.type === 'json_schema' && format.strict ? [...inTools, format.schema] : inTools
}

/**
 * Checks that each call is followed by one result, and that each result has a preceding call. Reasoning must be readable by the vendor, and must be
 * followed by another item.
 */
function unpaired(items: Exclude<Request['input'], string>): string[] {
  const problems: string[] = []
  const open = new Set<string>()
  for (const [index, each] of items.entries()) {
    if (each.type === 'function_call' || each.type === 'custom_tool_call') open.add(each.call_id)
    if (each.type === 'function_call_output' || each.type === 'custom_tool_call_output')
      if (!open.delete(each.call_id)) problems.push(`input.${index}: a result without its call before it`)
    if (each.type !== 'reasoning') continue
    if (each.encrypted_content === undefined && !each.content)
      problems.push(`input.${index}: thoughts that nobody kept`)
    if (index === items.length - 1) problems.push(`input.${index}: thoughts without what follows from them`)
  }
  return open.size > 0 ? [...problems, `calls have no result: ${[...open]}`] : problems
}
