import { EFFORTS } from '../canonical/base-traits.ts'
import { defined } from '../canonical/defined.ts'
import type { Fields } from '../canonical/fields.ts'
import type { OutputFormat, ReasoningOptions, RequestOptions } from '../canonical/request.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { parseCacheOptions, parseEndUser, parseServiceTier } from '../openai-options.ts'

/** Everything that a request says besides its conversation and its tools. `text` is its field of that name. */
export function parseOptions(body: Fields, text: Fields | undefined, warnings: Warnings): RequestOptions {
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
    store: body.flag('store') || undefined, // false is what every other format does anyway
    temperature: body.number('temperature'),
    topP: body.number('top_p'),
    verbosity: text?.wish('verbosity', ['low', 'medium', 'high']),
  })
}

/** `include` asks for the tokens of the answer, `top_logprobs` for what else they could have been. */
function parseLogprobs(body: Fields, warnings: Warnings): number | undefined {
  const top = body.number('top_logprobs')
  const included = body.texts('include') ?? []
  const isAsked = included.includes(LOGPROBS)
  if (included.some((name) => name !== LOGPROBS && name !== THOUGHTS)) warnings.dropped('include')
  return isAsked || top ? (top ?? 0) : undefined
}

const LOGPROBS = 'message.output_text.logprobs'

/** Comes in any case. */
const THOUGHTS = 'reasoning.encrypted_content'

function parseReasoning(body: Fields): ReasoningOptions | undefined {
  const reasoning = body.fields('reasoning')
  if (!reasoning) return undefined
  const { value } = reasoning
  const effort = reasoning.wish('effort', EFFORTS)
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
  warnings.changed('service_tier', 'replaced')
  return 'fast'
}

/** `text.format`. */
export function parseOutput(text: Fields | undefined, warnings: Warnings): OutputFormat | undefined {
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
