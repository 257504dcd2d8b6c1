import * as v from 'valibot'
import { count, json, nonEmptyArray, webUrl, words } from './validator.ts'

/** A field that may be missing, but not `null`. */
export const maybe = v.exactOptional
/** Marks a block as the end of a cached prefix. */
export const cache_control = maybe(
  v.strictObject({ type: v.literal('ephemeral'), ttl: maybe(v.picklist(['5m', '1h'])) }),
)

const isBlank = (text: string) => text.trim() === ''

/** Text that contains more than whitespace. */
export const spoken = v.pipe(
  v.string(),
  v.check((text) => !isBlank(text), 'text blocks must hold more than white space'),
)

const base64 = v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]*={0,2}$/))
/** The name of a tool. */
export const name = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,128}$/))
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
/** A text block from anyone except the assistant. */
export const text = v.strictObject({ type: v.literal('text'), text: spoken, cache_control })
const cited = v.strictObject({
  type: v.literal('text'),
  text: spoken,
  citations: maybe(nonEmptyArray(citation)),
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
const original = v.variant('type', [text, image, document, found])
const result = v.strictObject({
  type: v.literal('tool_result'),
  tool_use_id: id,
  content: maybe(v.union([v.string(), v.array(original)])),
  is_error: maybe(v.boolean()),
  cache_control,
})
const call = v.strictObject({ type: v.literal('tool_use'), id, name, input: json, cache_control })
const thought = v.variant('type', [
  v.strictObject({ type: v.literal('thinking'), thinking: v.string(), signature: words }),
  v.strictObject({ type: v.literal('redacted_thinking'), data: words }),
])

/** The blocks allowed in a user turn. */
export const userBlock = v.variant('type', [text, image, document, found, result])

/** The blocks allowed in an assistant turn. */
export const assistantBlock = v.union([cited, call, thought])
