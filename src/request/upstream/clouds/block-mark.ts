import { isObject, type JsonObject } from '../../../lib/json.ts'
import { scanTopLevel, withMember } from '../../../lib/json-scan.ts'
import { parseOpaque } from '../../../protocols/formats/canonical/exact-json.ts'

/**
 * Copies the cache mark on a whole Messages request to its last block, for hosts that support marks only on blocks. Returns the text unchanged if
 * the block has a mark, or all marks are used. Keeps the mark on the request itself.
 */
export function addBlockMark(text: string): string {
  if (scanTopLevel(text, ['cache_control']).spans.length === 0) return text
  const body = parseOpaque(text)
  if (!isObject(body) || !isObject(body.cache_control) || !Array.isArray(body.messages)) return text
  const marks = [...listMarks(body.tools), ...listMarks(body.system), ...body.messages.flatMap(listMessageMarks)]
  if (marks.length >= MAX_MARKS) return text
  const isLong = body.cache_control.ttl === '1h' && marks.every(({ ttl }) => ttl === '1h') // a longer lifetime must not follow a shorter one
  const messages = markLastBlock(body.messages, isLong ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' })
  return messages ? withMember(text, 'messages', () => JSON.stringify(messages)) : text
}

/** The maximum number of marks in a request. */
const MAX_MARKS = 4

const listMarks = (blocks: unknown): JsonObject[] =>
  listObjects(blocks).flatMap((block) => [
    ...listMarks(block.content),
    ...(isObject(block.cache_control) ? [block.cache_control] : []),
  ])

const listMessageMarks = (message: unknown) => (isObject(message) ? listMarks(message.content) : [])

const listObjects = (list: unknown): JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : [])

/** Adds a mark to the last block that can have one; `undefined` if there is no such block, or it has a mark already. */
function markLastBlock(messages: readonly unknown[], cache_control: JsonObject): unknown[] | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]
    if (!isObject(message)) continue
    const { content } = message
    const blocks: unknown[] = typeof content === 'string' ? [{ type: 'text', text: content }] : [content].flat()
    const index = blocks.findLastIndex(mayBeMarked)
    const block = blocks[index]
    if (!isObject(block)) continue
    if (block.cache_control) return undefined
    return messages.with(at, { ...message, content: blocks.with(index, { ...block, cache_control }) })
  }
  return undefined
}

const mayBeMarked = (block: unknown): boolean =>
  isObject(block) &&
  !(block.type === 'text' && (typeof block.text !== 'string' || block.text.trim() === '')) &&
  block.type !== 'thinking' &&
  block.type !== 'redacted_thinking'
