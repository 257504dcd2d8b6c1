import type OpenAI from 'openai'
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
 * Validates a request to OpenAI Chat Completions, and rejects unknown fields as OpenAI does. Sources: the API reference, and the types of OpenAI's
 * client, which everything valid here must fit. `reasoning_content` and images in responses come from vendors that use OpenAI's format.
 */

const maybe = v.exactOptional

const text = v.strictObject({ type: v.literal('text'), text: v.string(), ...mark })
const image = v.strictObject({
  type: v.literal('image_url'),
  image_url: v.strictObject({
    url: v.union([dataUrl, webUrl]),
    detail: maybe(v.picklist(['auto', 'low', 'high', 'original'])),
  }),
  ...mark,
})
const audio = v.strictObject({
  type: v.literal('input_audio'),
  input_audio: v.strictObject({ data: v.pipe(v.string(), v.base64()), format: v.picklist(['wav', 'mp3']) }),
  ...mark,
})
const file = v.strictObject({
  type: v.literal('file'),
  file: v.union([
    v.strictObject({ file_data: dataUrl, filename: v.string() }),
    v.strictObject({ file_id: v.string(), filename: maybe(v.string()) }),
  ]),
  ...mark,
})
const texts = v.union([v.string(), nonEmptyArray(text)])

const call = v.variant('type', [
  v.strictObject({
    id: v.string(),
    type: v.literal('function'),
    function: v.strictObject({ name, arguments: v.string() }),
  }),
  v.strictObject({
    id: v.string(),
    type: v.literal('custom'),
    custom: v.strictObject({ name, input: v.string() }),
  }),
])

const message = v.variant('role', [
  v.strictObject({ role: v.literal('system'), content: texts, name: maybe(name) }),
  v.strictObject({ role: v.literal('developer'), content: texts, name: maybe(name) }),
  v.strictObject({
    role: v.literal('user'),
    content: v.union([v.string(), nonEmptyArray(v.variant('type', [text, image, audio, file]))]),
    name: maybe(name),
  }),
  v.strictObject({
    role: v.literal('assistant'),
    content: v.nullable(texts),
    refusal: maybe(v.string()),
    name: maybe(name),
    audio: maybe(v.strictObject({ id: v.string() })),
    tool_calls: maybe(nonEmptyArray(call)),
    reasoning_content: maybe(v.string()),
  }),
  v.strictObject({ role: v.literal('tool'), tool_call_id: v.string(), content: texts }),
])

const grammar = v.strictObject({ syntax: v.picklist(['lark', 'regex']), definition: v.string() })
const tool = v.variant('type', [
  v.strictObject({
    type: v.literal('function'),
    function: v.strictObject({
      name,
      description: maybe(v.string()),
      parameters: maybe(json),
      strict: maybe(v.boolean()),
    }),
  }),
  v.strictObject({
    type: v.literal('custom'),
    custom: v.strictObject({
      name,
      description: maybe(v.string()),
      format: maybe(v.strictObject({ type: v.literal('grammar'), grammar })),
    }),
  }),
])
const named = v.variant('type', [
  v.strictObject({ type: v.literal('function'), function: v.strictObject({ name }) }),
  v.strictObject({ type: v.literal('custom'), custom: v.strictObject({ name }) }),
])
const choice = v.union([
  v.picklist(['auto', 'none', 'required']),
  named,
  v.strictObject({
    type: v.literal('allowed_tools'),
    allowed_tools: v.strictObject({ mode: v.picklist(['auto', 'required']), tools: nonEmptyArray(named) }),
  }),
])
const output = v.variant('type', [
  v.strictObject({ type: v.literal('text') }),
  v.strictObject({ type: v.literal('json_object') }),
  v.strictObject({
    type: v.literal('json_schema'),
    json_schema: v.strictObject({
      name,
      schema: maybe(json),
      description: maybe(v.string()),
      strict: maybe(v.boolean()),
    }),
  }),
])

const request = v.strictObject({
  model: v.string(),
  messages: nonEmptyArray(message),
  tools: maybe(nonEmptyArray(tool)),
  tool_choice: maybe(choice),
  parallel_tool_calls: maybe(v.boolean()),
  response_format: maybe(output),
  stream: maybe(v.boolean()),
  stream_options: maybe(v.strictObject({ include_usage: v.boolean() })),
  max_completion_tokens: maybe(v.pipe(count, v.minValue(1))),
  temperature: maybe(numberBetween(0, 2)),
  top_p: maybe(numberBetween(0, 1)),
  frequency_penalty: maybe(numberBetween(-2, 2)),
  presence_penalty: maybe(numberBetween(-2, 2)),
  seed: maybe(v.pipe(v.number(), v.integer())),
  stop: maybe(v.pipe(nonEmptyArray(v.string()), v.maxLength(4))),
  n: maybe(numberBetween(1, 128)),
  logprobs: maybe(v.boolean()),
  top_logprobs: maybe(numberBetween(0, 20)),
  logit_bias: maybe(v.record(v.string(), numberBetween(-100, 100))),
  reasoning_effort: maybe(v.picklist(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
  verbosity: maybe(v.picklist(['low', 'medium', 'high'])),
  service_tier: maybe(v.picklist(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])),
  store: maybe(v.boolean()),
  metadata: maybe(v.pipe(labels, v.maxEntries(16))),
  safety_identifier: maybe(v.pipe(v.string(), v.maxLength(128))),
  prompt_cache_key: maybe(v.string()),
  moderation: maybe(v.looseObject({ model: v.string() })),
  prompt_cache_options: maybe(
    v.strictObject({ mode: maybe(v.picklist(['implicit', 'explicit'])), ttl: maybe(v.literal('30m')) }),
  ),
  prompt_cache_retention: maybe(v.picklist(['in_memory', '24h'])),
  modalities: maybe(nonEmptyArray(v.picklist(['text', 'audio', 'image']))),
  audio: maybe(
    v.strictObject({ voice: v.string(), format: v.picklist(['wav', 'aac', 'mp3', 'flac', 'opus', 'pcm16']) }),
  ),
  prediction: maybe(v.strictObject({ type: v.literal('content'), content: v.string() })),
  web_search_options: maybe(
    v.strictObject({
      search_context_size: maybe(v.picklist(['low', 'medium', 'high'])),
      user_location: maybe(
        v.strictObject({
          type: v.literal('approximate'),
          approximate: v.strictObject({
            city: maybe(v.string()),
            country: maybe(v.string()),
            region: maybe(v.string()),
            timezone: maybe(v.string()),
          }),
        }),
      ),
    }),
  ),
})

type Request = v.InferOutput<typeof request>

/** Compiles only if OpenAI's client accepts everything that is valid here. */
export const toClientType = ({ modalities: _, ...body }: Request): OpenAI.ChatCompletionCreateParams => body

export const chatProblems = createValidator(request, (body) => [
  ...listBroken({
    'tool_choice is only allowed when tools are specified': !body.tool_choice || !!body.tools,
    'parallel_tool_calls is only allowed when tools are specified':
      body.parallel_tool_calls === undefined || !!body.tools,
    'stream_options is only allowed when stream is enabled': !body.stream_options || body.stream === true,
    'top_logprobs requires logprobs': body.top_logprobs === undefined || body.logprobs === true,
    'a tool choice must name one of the tools': getChosen(body).every((tool) => getNames(body).includes(tool)),
    'tool names must be unique': new Set(getNames(body)).size === getNames(body).length,
    'response_format json_object needs the word json in the messages':
      body.response_format?.type !== 'json_object' || /json/i.test(JSON.stringify(body.messages)),
    'a strict schema must be closed and require all its properties': strictSchemas(body).every(isStrict),
  }),
  ...unpaired(body.messages),
])

const getNames = ({ tools = [] }: Request) =>
  tools.map((tool) => (tool.type === 'function' ? tool.function.name : tool.custom.name))

function getChosen({ tool_choice: choice }: Request): string[] {
  if (typeof choice !== 'object') return []
  const tools = choice.type === 'allowed_tools' ? choice.allowed_tools.tools : [choice]
  return tools.map((tool) => (tool.type === 'function' ? tool.function.name : tool.custom.name))
}

function strictSchemas({ tools = [], response_format: format }: Request): unknown[] {
  const inTools = tools.flatMap((tool) =>
    tool.type === 'function' && tool.function.strict ? tool.function.parameters : [],
  )
  return format?.type === 'json_schema' && format.json_schema.strict ? [...inTools, format.json_schema.schema] : inTools
}

/** Checks that every call is followed directly by its result, and that there are no other results. */
function unpaired(messages: Request['messages']): string[] {
  const problems: string[] = []
  let open: string[] = []
  for (const [index, each] of messages.entries()) {
    if (each.role === 'tool') {
      if (!open.includes(each.tool_call_id)) problems.push(`messages.${index}: a result without its call before it`)
      open = open.filter((id) => id !== each.tool_call_id)
      continue
    }
    if (open.length > 0) problems.push(`messages.${index}: calls before it have no result: ${open}`)
    open = each.role === 'assistant' ? (each.tool_calls ?? []).map(({ id }) => id) : []
    if (each.role === 'assistant' && each.content === null && !each.tool_calls && !each.refusal && !each.audio)
      problems.push(`messages.${index}: nothing is said`)
  }
  return open.length > 0 ? [...problems, `at the end calls have no result: ${open}`] : problems
}
