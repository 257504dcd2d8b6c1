import { isObject, type JsonObject } from '../../../lib/json.ts'
import { setMember } from '../../../lib/json-edit.ts'
import { scanTopLevel } from '../../../lib/json-scan.ts'
import { parseOpaque } from '../../../protocols/formats/canonical/exact-json.ts'

/**
 * Copies the cache breakpoint on an entire Messages request to its last block, for hosts that support breakpoints only on blocks. Returns the text
 * unchanged if the block has a breakpoint or all breakpoints are used. Keeps the breakpoint on the request itself.
 */
export function addBlockBreakpoint(text: string): string {
  if (scanTopLevel(text, ['cache_control']).spans.length === 0) return text
  const body = parseOpaque(text)
  if (!isObject(body) || !isObject(body.cache_control) || !Array.isArray(body.messages)) return text
  const breakpoints = [
    ...listBreakpoints(body.tools),
    ...listBreakpoints(body.system),
    ...body.messages.flatMap(listMessageBreakpoints),
  ]
  if (breakpoints.length >= MAX_BREAKPOINTS) return text
  const isLong = body.cache_control.ttl === '1h' && breakpoints.every(({ ttl }) => ttl === '1h') // a longer TTL must not follow a shorter one
  const messages = addToLastBlock(body.messages, isLong ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' })
  return messages ? setMember(text, 'messages', () => JSON.stringify(messages)) : text
}

/** Maximum number of breakpoints in a request. */
const MAX_BREAKPOINTS = 4

const listBreakpoints = (blocks: unknown): JsonObject[] =>
  listObjects(blocks).flatMap((block) => [
    ...listBreakpoints(block.content),
    ...(isObject(block.cache_control) ? [block.cache_control] : []),
  ])

const listMessageBreakpoints = (message: unknown) => (isObject(message) ? listBreakpoints(message.content) : [])

const listObjects = (list: unknown): JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : [])

/** Adds a breakpoint to the last block that can have one. Returns `undefined` if there is no such block, or if it already has a breakpoint. */
function addToLastBlock(messages: readonly unknown[], cache_control: JsonObject): unknown[] | undefined {
  for (let messageIndex = messages.length - 1; messageIndex >= 0; messageIndex--) {
    const message = messages[messageIndex]
    if (!isObject(message)) continue
    const { content } = message
    const blocks: unknown[] = typeof content === 'string' ? [{ type: 'text', text: content }] : [content].flat()
    const index = blocks.findLastIndex(canHaveBreakpoint)
    const block = blocks[index]
    if (!isObject(block)) continue
    if (block.cache_control) return undefined
    return messages.with(messageIndex, { ...message, content: blocks.with(index, { ...block, cache_control }) })
  }
  return undefined
}

const canHaveBreakpoint = (block: unknown): boolean =>
  isObject(block) &&
  !(block.type === 'text' && (typeof block.text !== 'string' || block.text.trim() === '')) &&
  block.type !== 'thinking' &&
  block.type !== 'redacted_thinking'
