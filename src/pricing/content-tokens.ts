import { decodeUtf8Lenient } from '../lib/bytes.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import { createSseParser } from '../lib/sse.ts'
import { estimateTokens } from '../lib/text-tokens.ts'
import type { ContentFields } from '../protocols/formats/format.ts'

/**
 * Estimates the output tokens in a response part from the strings in the fields with these names. Skips strings that are nested deeper than in any
 * real response.
 */
export function countContentTokens(value: unknown, names: readonly string[], isWithin = false, depth = 0): number {
  if (typeof value === 'string') return isWithin ? estimateTokens(value) : 0
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 0
  let tokens = 0
  let reasoningTokens = 0 // servers may send the same reasoning in several fields
  if (Array.isArray(value)) for (const item of value) tokens += countContentTokens(item, names, isWithin, depth + 1)
  else if (!('type' in value && isToolResult(value.type)))
    for (const [name, inner] of Object.entries(value)) {
      if (NON_CONTENT_FIELDS.has(name)) continue
      const count = countContentTokens(inner, names, isWithin || names.includes(name), depth + 1)
      if (REASONING_FIELDS.has(name)) reasoningTokens = Math.max(reasoningTokens, count)
      else tokens += count
    }
  return tokens + reasoningTokens
}

/** Counts content in events that repeat earlier content. The count only matters if no earlier event had that content. */
export function createRepeatCounter({ complete, findRepeatedItems }: ContentFields) {
  let tokens = 0
  return {
    add(event: unknown) {
      const repeated = isObject(event) ? findRepeatedItems?.(event) : undefined
      if (!repeated) return
      const count = countContentTokens(repeated.items, complete)
      tokens = repeated.isComplete ? Math.max(tokens, count) : tokens + count
    },
    getTokens: () => tokens,
  }
}

/** Recognizes the results of provider-side tools, which are input to the model. */
const isToolResult = (type: unknown): boolean => typeof type === 'string' && type.endsWith('_tool_result')

/** Responses may nest 10,000 levels (lib/json.ts), too many for recursion. */
const MAX_DEPTH = 64

/** Estimates the output tokens for the images in a response part. */
export function countImageTokens(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.startsWith('data:image/') ? TOKENS_PER_IMAGE : 0
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 0
  if (isImage(value)) return TOKENS_PER_IMAGE
  return Object.entries(value).reduce(
    (tokens, [name, inner]) => (name === 'response' ? tokens : tokens + countImageTokens(inner, depth + 1)), // `response` repeats the same images
    0,
  )
}

/** Recognizes images in Gemini's format, in Chat Completions, and from the image tool of Responses. */
const isImage = (value: object): boolean =>
  ('mimeType' in value && 'data' in value && String(value.mimeType).startsWith('image/')) ||
  ('image_url' in value && isObject(value.image_url)) ||
  ('type' in value && value.type === 'image_generation_call' && 'result' in value && typeof value.result === 'string')

/** Output tokens for an image of a common size. Larger images take more. */
export const TOKENS_PER_IMAGE = 1_290

/** Estimates the output tokens in complete server-sent events. `countMore` counts additional tokens in each event. */
export function countStreamTokens(
  events: Uint8Array,
  names: readonly string[],
  countMore: (event: unknown) => number = () => 0,
): number {
  let tokens = 0
  const parser = createSseParser(({ data }) => {
    const value = tryParseJson(data)
    tokens += countContentTokens(value, names) + countMore(value)
  })
  parser.push(decodeUtf8Lenient(events))
  parser.end()
  return tokens
}

const REASONING_FIELDS = new Set(['reasoning', 'reasoning_content', 'reasoning_details', 'thinking', 'thinking_blocks'])

/** Fields in response parts that aren't output: the format's keywords and IDs, and signatures. */
const NON_CONTENT_FIELDS = new Set([
  'sources',
  'type',
  'id',
  'call_id',
  'signature',
  'thoughtSignature',
  'format',
  'annotations',
  'citations',
])
