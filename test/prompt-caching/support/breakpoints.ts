import { isObject, type JsonObject } from '../../../src/lib/json.ts'

/** A breakpoint in a provider request, and the text or name of its block. */
export interface Marked {
  place: 'tools' | 'system' | 'messages' | 'top'
  ttl: string
  text: unknown
}

/** Lists the breakpoints of a Messages or Converse request, in the order of the cached prefix. */
export function listMarks(sent: JsonObject): Marked[] {
  const { tools, toolConfig, system, messages, cache_control } = sent
  const turns = Array.isArray(messages) ? messages.flatMap(({ content }) => content) : []
  return [
    ...listBlockMarks('tools', isObject(toolConfig) ? toolConfig.tools : tools),
    ...listBlockMarks('system', system),
    ...listBlockMarks('messages', turns),
    ...(isObject(cache_control) ? [{ place: 'top' as const, ttl: getTtl(cache_control), text: undefined }] : []),
  ]
}

function listBlockMarks(location: Marked['place'], blocks: unknown): Marked[] {
  const marks: Marked[] = []
  let before: unknown
  for (const block of Array.isArray(blocks) ? blocks : []) {
    if (!isObject(block)) continue
    if (isObject(block.cachePoint)) {
      marks.push({ place: location, ttl: getTtl(block.cachePoint), text: before })
      continue
    }
    before = getText(block)
    if (Array.isArray(block.content)) marks.push(...listBlockMarks(location, block.content))
    if (isObject(block.cache_control)) marks.push({ place: location, ttl: getTtl(block.cache_control), text: before })
  }
  return marks
}

const getText = ({ text, name, id, tool_use_id, toolSpec, toolResult, toolUse, type }: JsonObject): unknown => {
  const inner = [toolSpec, toolResult, toolUse].find(isObject)
  return text ?? tool_use_id ?? id ?? name ?? inner?.name ?? inner?.toolUseId ?? type
}

const getTtl = ({ ttl }: JsonObject): string => (typeof ttl === 'string' ? ttl : '5m')
