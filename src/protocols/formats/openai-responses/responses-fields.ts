import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { OptionName } from '../../../traits.ts'
import { createBase64Source } from '../canonical/canonical-media.ts'
import type { Citation, ImagePart, RefusalPart, ServerToolPart, TextPart } from '../canonical/canonical-parts.ts'
import type { Finish, FinishReason, TokenUsage } from '../canonical/canonical-response.ts'
import { omitUndefined } from '../canonical/canonical-values.ts'
import type { ResponseWarnings } from '../canonical/canonical-warnings.ts'
import type { WireAnnotation, WireOutcome, WireUsage } from './responses-wire.ts'

/** The format's names for the options it supports. Open Responses supports penalties, but OpenAI doesn't. */
export const optionNames = {
  cacheKey: 'prompt_cache_key',
  cacheOptions: 'prompt_cache_options',
  cacheRetention: 'prompt_cache_retention',
  endUser: 'safety_identifier',
  frequencyPenalty: 'frequency_penalty',
  labels: 'metadata',
  logprobs: 'top_logprobs',
  maxOutputTokens: 'max_output_tokens',
  moderation: 'moderation',
  parallelToolCalls: 'parallel_tool_calls',
  presencePenalty: 'presence_penalty',
  reasoning: 'reasoning',
  serviceTier: 'service_tier',
  store: 'store',
  temperature: 'temperature',
  topP: 'top_p',
  verbosity: 'text.verbosity',
} as const satisfies Partial<Record<OptionName, string>>

/** Parses how a response ended from its `status` and `incomplete_details`. */
export function parseFinish({ status, incomplete_details: details }: JsonObject): Finish {
  if (status !== 'incomplete') return { reason: 'stop' }
  const raw = isObject(details) && typeof details.reason === 'string' ? details.reason : ''
  return { reason: finishReasons.get(raw) ?? 'length', raw }
}

const finishReasons = new Map<string, FinishReason>(
  Object.entries({
    max_output_tokens: 'length',
    max_messages: 'length',
    content_filter: 'content-filter',
    steered: 'stop', // the client continued with another request
  } satisfies Record<string, FinishReason>),
)

type Ending = Pick<WireOutcome, 'incomplete_details'> & { status: 'completed' | 'incomplete' | 'failed' }

const COMPLETED_ENDING: Ending = { status: 'completed', incomplete_details: null }

const INCOMPLETE_ENDING: Ending = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }

/** Maps canonical finish reasons to the response status for a client. */
export const wireEndings: Readonly<Record<FinishReason, Ending>> = {
  stop: COMPLETED_ENDING,
  'stop-sequence': COMPLETED_ENDING,
  'tool-calls': COMPLETED_ENDING,
  length: INCOMPLETE_ENDING,
  pause: INCOMPLETE_ENDING,
  'context-window': INCOMPLETE_ENDING,
  'content-filter': { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
  'malformed-call': { status: 'failed', incomplete_details: null },
}

/** Writes `usage` for a client. */
export function writeUsage({ inputTokens, outputTokens, ...details }: TokenUsage): WireUsage {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = details
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  }
}

/** Parses a text part's `annotations`, and warns about annotations with neither a URL nor a file. */
export function parseAnnotations(annotations: unknown, responseWarnings?: ResponseWarnings): Citation[] {
  if (!Array.isArray(annotations)) return []
  const citations = annotations.flatMap((annotation: unknown) => parseAnnotation(annotation) ?? [])
  if (citations.length < annotations.length) responseWarnings?.recordDrop('annotations')
  return citations
}

/** Parses a citation. A file citation has a position in the text but no span. */
function parseAnnotation(annotation: unknown): Citation | undefined {
  if (!isObject(annotation)) return undefined
  const { url, title, filename, file_id, start_index: start, end_index: end } = annotation
  if (typeof url !== 'string' && typeof file_id !== 'string') return undefined
  const hasSpan = typeof start === 'number' && typeof end === 'number' && end > start
  const name = title ?? filename
  return omitUndefined<Citation>({
    url: typeof url === 'string' ? url : undefined,
    title: typeof name === 'string' && name !== '' ? name : undefined,
    fileId: typeof url !== 'string' && typeof file_id === 'string' ? file_id : undefined,
    start: hasSpan ? start : undefined,
    end: hasSpan ? end : undefined,
  })
}

/** Writes a citation in a text part of `length`. Returns `undefined` if it cites a document from the request, which the format doesn't support. */
export function writeAnnotation(citation: Citation, textLength: number): WireAnnotation | undefined {
  const { url, fileId, title = '', start = 0, end = textLength } = citation
  if (url !== undefined) return { type: 'url_citation', url, title, start_index: start, end_index: end }
  return fileId === undefined ? undefined : { type: 'file_citation', file_id: fileId, filename: title, index: end }
}

/** Parses a `web_search_call` from a client or provider. A page that it opened or searched is treated as a result. */
export function parseSearch({ id, status, action }: { [name: string]: unknown }): ServerToolPart {
  const { query, queries, sources, url } = isObject(action) ? action : {}
  const firstQuery = Array.isArray(queries) ? queries[0] : undefined
  const queryText = query ?? firstQuery
  const results = Array.isArray(sources) ? sources : [{ url }]
  return {
    type: 'server-tool',
    tool: 'web-search',
    id: typeof id === 'string' ? id : '',
    query: typeof queryText === 'string' ? queryText : '',
    ...(status === 'failed' && { error: 'unavailable' }),
    results: results.flatMap((source: unknown) =>
      isObject(source) && typeof source.url === 'string'
        ? [{ url: source.url, title: typeof source.title === 'string' ? source.title : '' }]
        : [],
    ),
  }
}

/** Parses an `image_generation_call`. Returns `undefined` if it has no image. */
export function parseGeneratedImage({
  result,
  output_format: format,
}: {
  [name: string]: unknown
}): ImagePart | undefined {
  if (typeof result !== 'string' || result === '') return undefined
  const mediaType = `image/${typeof format === 'string' ? format : 'png'}`
  return { type: 'image', source: createBase64Source(mediaType, result) }
}

/** Returns a text part's phase: commentary or the final answer. Refusals have none. */
export const getPhase = (part: TextPart | RefusalPart | undefined) => (part?.type === 'text' ? part.phase : undefined)
