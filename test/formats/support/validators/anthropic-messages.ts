import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages'
import * as v from 'valibot'
import { assistantBlock, cache_control, maybe, name, spoken, text, userBlock } from './anthropic-blocks.ts'
import {
  count,
  createValidator,
  everyObject,
  isClosed,
  json,
  listBroken,
  nonEmptyArray,
  numberBetween,
} from './validator.ts'

/*
 * Validates a request to Anthropic Messages, and rejects unknown fields as Anthropic does. Sources: the API reference, and the types of Anthropic's
 * client. Everything valid here must fit those types, except sampling parameters that only the older API version accepts.
 */

const message = v.variant('role', [
  v.strictObject({
    role: v.literal('user'),
    content: v.union([spoken, nonEmptyArray(userBlock)]),
  }),
  v.strictObject({
    role: v.literal('assistant'),
    content: v.union([spoken, nonEmptyArray(assistantBlock)]),
  }),
  v.strictObject({ role: v.literal('system'), content: v.union([spoken, nonEmptyArray(text)]) }),
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
  v.strictObject({ type: v.literal('bash_20250124'), name: v.literal('bash'), cache_control }),
  v.strictObject({ type: v.literal('memory_20250818'), name: v.literal('memory'), cache_control }),
  v.strictObject({
    type: v.literal('text_editor_20250728'),
    name: v.literal('str_replace_based_edit_tool'),
    max_characters: maybe(count),
    cache_control,
  }),
  v.strictObject({
    type: v.literal('web_search_20250305'),
    name: v.literal('web_search'),
    max_uses: maybe(v.pipe(count, v.minValue(1))),
    allowed_domains: maybe(nonEmptyArray(v.string())),
    blocked_domains: maybe(nonEmptyArray(v.string())),
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
    block_binding: maybe(v.strictObject({ prefix_mismatch_behavior: v.literal('drop_block') })), // in beta
  }),
  v.strictObject({ type: v.literal('enabled'), budget_tokens: v.pipe(count, v.minValue(1_024)), display }),
])

const request = v.strictObject({
  model: v.string(),
  max_tokens: v.pipe(count, v.minValue(1)),
  messages: nonEmptyArray(message),
  system: maybe(v.union([spoken, nonEmptyArray(text)])),
  tools: maybe(nonEmptyArray(tool)),
  tool_choice: maybe(choice),
  thinking: maybe(thinking),
  output_config: maybe(
    v.strictObject({
      effort: maybe(v.picklist(['low', 'medium', 'high', 'xhigh', 'max'])),
      format: maybe(v.strictObject({ type: v.literal('json_schema'), schema: json })),
    }),
  ),
  temperature: maybe(numberBetween(0, 1)),
  top_p: maybe(numberBetween(0, 1)),
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

/** Compiles only if Anthropic's client accepts everything that is valid here. */
export const toClientType = ({
  temperature: _,
  top_p: __,
  top_k: ___,
  thinking: ____,
  ...body
}: Request): MessageCreateParams => body

export const messagesProblems = createValidator(request, (body) => {
  const { tools = [], tool_choice: wanted, thinking: mode, output_config: { format } = {} } = body
  return [
    ...listBroken({
      'tool_choice may only be specified while providing tools': !wanted || tools.length > 0,
      'a tool choice must name one of the tools':
        wanted?.type !== 'tool' || tools.some((each) => each.name === wanted.name),
      'tool names must be unique': new Set(tools.map((each) => each.name)).size === tools.length,
      'max_tokens must be greater than thinking.budget_tokens':
        mode?.type !== 'enabled' || mode.budget_tokens < body.max_tokens,
      'thinking may not be enabled when tool_choice forces tool use':
        mode?.type !== 'enabled' || (wanted?.type !== 'any' && wanted?.type !== 'tool'),
      'a maximum of 4 blocks with cache_control': (JSON.stringify(body).match(/"cache_control":/g) ?? []).length <= 4,
      'objects in output_config.format must be closed': everyObject(format?.schema, isClosed),
      'the first message must be from the user': body.messages[0]?.role === 'user',
      'the last message must not end with white space': !endsInSpace(body.messages.at(-1)),
    }),
    ...unpaired(body.messages),
  ]
})

function endsInSpace(last: Message | undefined): boolean {
  if (last?.role !== 'assistant') return false
  const block = typeof last.content === 'string' ? { type: 'text' as const, text: last.content } : last.content.at(-1)
  return block?.type === 'text' && /\s$/.test(block.text)
}

/** Checks that turns alternate, and that the results of a turn's calls are at the start of the next turn and nowhere else. */
function unpaired(messages: readonly Message[]): string[] {
  const problems: string[] = []
  let open: string[] = []
  const turns = messages.filter(({ role }) => role !== 'system') // system turns may come between a turn and its reply
  for (const [index, { role, content }] of turns.entries()) {
    if (turns[index - 1]?.role === role) problems.push(`messages.${index}: ${role} twice`)
    const blocks = typeof content === 'string' ? [] : content
    const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []))
    if (results.toSorted().join() !== open.toSorted().join())
      problems.push(`messages.${index}: results of ${results} for calls of ${open}`)
    if (blocks.slice(0, results.length).some((block) => block.type !== 'tool_result'))
      problems.push(`messages.${index}: results come first`)
    open = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
  }
  return open.length > 0 ? [...problems, `calls have no result: ${open}`] : problems
}
