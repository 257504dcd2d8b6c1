import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages'
import * as v from 'valibot'
import {
  broken,
  count,
  createValidator,
  everyObject,
  isClosed,
  json,
  some,
  webUrl,
  within,
  words,
} from './validator.ts'

/*
 * A request for Anthropic's Messages, closed as Anthropic closes it. Sources: the types of its own client, which everything that passes here
 * has to fit but for the sampling that only the older version of the API takes, and its API reference.
 */

const maybe = v.exactOptional
const cache_control = maybe(v.strictObject({ type: v.literal('ephemeral'), ttl: maybe(v.picklist(['5m', '1h'])) }))
const isBlank = (text: string) => text.trim() === ''
const spoken = v.pipe(
  v.string(),
  v.check((text) => !isBlank(text), 'text blocks must hold more than white space'),
)
const base64 = v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]*={0,2}$/))
const name = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,128}$/))
const id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+$/))

const citation = v.variant('type', [
  v.strictObject({
    type: v.literal('char_location'),
    cited_text: v.string(),
    document_index: count,
    document_title: v.nullable(v.string()),
    start_char_index: count,
    end_char_index: count,
  }),
  v.strictObject({
    type: v.literal('page_location'),
    cited_text: v.string(),
    document_index: count,
    document_title: v.nullable(v.string()),
    start_page_number: count,
    end_page_number: count,
  }),
  v.strictObject({
    type: v.literal('content_block_location'),
    cited_text: v.string(),
    document_index: count,
    document_title: v.nullable(v.string()),
    start_block_index: count,
    end_block_index: count,
  }),
  v.strictObject({
    type: v.literal('search_result_location'),
    cited_text: v.string(),
    search_result_index: count,
    source: v.string(),
    title: v.nullable(v.string()),
    start_block_index: count,
    end_block_index: count,
  }),
])
const text = v.strictObject({ type: v.literal('text'), text: spoken, cache_control })
const cited = v.strictObject({
  type: v.literal('text'),
  text: spoken,
  citations: maybe(some(citation)),
  cache_control,
})

const url = v.strictObject({ type: v.literal('url'), url: webUrl })
const file = v.strictObject({ type: v.literal('file'), file_id: words })
const image = v.strictObject({
  type: v.literal('image'),
  source: v.variant('type', [
    v.strictObject({
      type: v.literal('base64'),
      media_type: v.picklist(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: base64,
    }),
    url,
    file,
  ]),
  cache_control,
})
const citations = maybe(v.strictObject({ enabled: v.boolean() }))
const document = v.strictObject({
  type: v.literal('document'),
  source: v.variant('type', [
    v.strictObject({ type: v.literal('base64'), media_type: v.literal('application/pdf'), data: base64 }),
    v.strictObject({ type: v.literal('text'), media_type: v.literal('text/plain'), data: v.string() }),
    url,
    file,
  ]),
  title: maybe(v.string()),
  context: maybe(v.string()),
  citations,
  cache_control,
})
const found = v.strictObject({
  type: v.literal('search_result'),
  source: v.string(),
  title: v.string(),
  content: v.array(text),
  citations,
  cache_control,
})
const given = v.variant('type', [text, image, document, found])
const result = v.strictObject({
  type: v.literal('tool_result'),
  tool_use_id: id,
  content: maybe(v.union([v.string(), v.array(given)])),
  is_error: maybe(v.boolean()),
  cache_control,
})
const call = v.strictObject({ type: v.literal('tool_use'), id, name, input: json, cache_control })
const thought = v.variant('type', [
  v.strictObject({ type: v.literal('thinking'), thinking: v.string(), signature: words }),
  v.strictObject({ type: v.literal('redacted_thinking'), data: words }),
])

const message = v.variant('role', [
  v.strictObject({
    role: v.literal('user'),
    content: v.union([spoken, some(v.variant('type', [text, image, document, found, result]))]),
  }),
  v.strictObject({
    role: v.literal('assistant'),
    content: v.union([spoken, some(v.union([cited, call, thought]))]),
  }),
  v.strictObject({ role: v.literal('system'), content: v.union([spoken, some(text)]) }),
])

const isSchema = v.custom<{ type: 'object' }>(
  (value) => typeof value === 'object' && value !== null && 'type' in value && value.type === 'object',
  'input_schema.type: must be object',
)
const tool = v.union([
  v.strictObject({
    name,
    description: maybe(v.string()),
    input_schema: isSchema,
    strict: maybe(v.boolean()),
    cache_control,
  }),
  v.strictObject({
    type: v.literal('web_search_20250305'),
    name: v.literal('web_search'),
    max_uses: maybe(v.pipe(count, v.minValue(1))),
    allowed_domains: maybe(some(v.string())),
    blocked_domains: maybe(some(v.string())),
    user_location: maybe(
      v.strictObject({
        type: v.literal('approximate'),
        city: maybe(v.string()),
        country: maybe(v.string()),
        region: maybe(v.string()),
        timezone: maybe(v.string()),
      }),
    ),
    cache_control,
  }),
])
const disable_parallel_tool_use = maybe(v.boolean())
const choice = v.variant('type', [
  v.strictObject({ type: v.literal('auto'), disable_parallel_tool_use }),
  v.strictObject({ type: v.literal('any'), disable_parallel_tool_use }),
  v.strictObject({ type: v.literal('tool'), name, disable_parallel_tool_use }),
  v.strictObject({ type: v.literal('none') }),
])
const display = maybe(v.picklist(['summarized', 'omitted']))
const thinking = v.variant('type', [
  v.strictObject({ type: v.literal('disabled') }),
  v.strictObject({
    type: v.literal('adaptive'),
    display,
    block_binding: maybe(v.strictObject({ prefix_mismatch_behavior: v.literal('drop_block') })), // a beta
  }),
  v.strictObject({ type: v.literal('enabled'), budget_tokens: v.pipe(count, v.minValue(1_024)), display }),
])

const request = v.strictObject({
  model: v.string(),
  max_tokens: v.pipe(count, v.minValue(1)),
  messages: some(message),
  system: maybe(v.union([spoken, some(text)])),
  tools: maybe(some(tool)),
  tool_choice: maybe(choice),
  thinking: maybe(thinking),
  output_config: maybe(
    v.strictObject({
      effort: maybe(v.picklist(['low', 'medium', 'high', 'xhigh', 'max'])),
      format: maybe(v.strictObject({ type: v.literal('json_schema'), schema: json })),
    }),
  ),
  temperature: maybe(within(0, 1)),
  top_p: maybe(within(0, 1)),
  top_k: maybe(count),
  stop_sequences: maybe(v.array(spoken)),
  metadata: maybe(v.strictObject({ user_id: v.pipe(v.string(), v.maxLength(256)) })),
  service_tier: maybe(v.picklist(['auto', 'standard_only'])),
  speed: maybe(v.literal('fast')),
  cache_control,
  stream: maybe(v.boolean()),
})

type Request = v.InferOutput<typeof request>
type Message = Request['messages'][number]

/** Compiles only if all that passes is what Anthropic's own client takes. */
export const fits = ({
  temperature: _,
  top_p: __,
  top_k: ___,
  thinking: ____,
  ...body
}: Request): MessageCreateParams => body

export const messagesProblems = createValidator(request, (body) => {
  const { tools = [], tool_choice: wanted, thinking: mode, output_config: { format } = {} } = body
  return [
    ...broken({
      'tool_choice may only be specified while providing tools': !wanted || tools.length > 0,
      'a chosen tool is one of the tools': wanted?.type !== 'tool' || tools.some((each) => each.name === wanted.name),
      'tools have one name each': new Set(tools.map((each) => each.name)).size === tools.length,
      'max_tokens must be greater than thinking.budget_tokens':
        mode?.type !== 'enabled' || mode.budget_tokens < body.max_tokens,
      'thinking may not be enabled when tool_choice forces tool use':
        mode?.type !== 'enabled' || (wanted?.type !== 'any' && wanted?.type !== 'tool'),
      'a maximum of 4 blocks with cache_control': (JSON.stringify(body).match(/"cache_control":/g) ?? []).length <= 4,
      'objects in output_config.format are closed': everyObject(format?.schema, isClosed),
      'the first message is from the user': body.messages[0]?.role === 'user',
      'the last message does not end in white space': !endsInSpace(body.messages.at(-1)),
    }),
    ...unpaired(body.messages),
  ]
})

function endsInSpace(last: Message | undefined): boolean {
  if (last?.role !== 'assistant') return false
  const block = typeof last.content === 'string' ? { type: 'text' as const, text: last.content } : last.content.at(-1)
  return block?.type === 'text' && /\s$/.test(block.text)
}

/** Turns alternate; what is called in one has its results first in the next, and only there. */
function unpaired(messages: readonly Message[]): string[] {
  const problems: string[] = []
  let open: string[] = []
  const turns = messages.filter(({ role }) => role !== 'system') // which stand between what is said and its answer
  for (const [at, { role, content }] of turns.entries()) {
    if (turns[at - 1]?.role === role) problems.push(`messages.${at}: ${role} twice`)
    const blocks = typeof content === 'string' ? [] : content
    const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []))
    if (results.toSorted().join() !== open.toSorted().join())
      problems.push(`messages.${at}: results of ${results} for calls of ${open}`)
    if (blocks.slice(0, results.length).some((block) => block.type !== 'tool_result'))
      problems.push(`messages.${at}: results come first`)
    open = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
  }
  return open.length > 0 ? [...problems, `calls have no result: ${open}`] : problems
}
