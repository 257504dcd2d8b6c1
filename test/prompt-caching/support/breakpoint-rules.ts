import { isObject, type JsonObject } from '../../../src/lib/json.ts'

/** Returns how a request's breakpoints break the provider's rules, or `undefined` if they don't. */
export function findMarkProblem(
  body: JsonObject,
  { acceptsTools, acceptsTop }: { acceptsTools: boolean; acceptsTop: boolean },
): string | undefined {
  const { tools, toolConfig, system, messages, cache_control } = body
  const wireTools = isObject(toolConfig) ? toolConfig.tools : tools
  const ofTools = listRawMarks(wireTools)
  if (!acceptsTools && ofTools.length > 0) return 'a mark on a tool'
  if (!acceptsTop && cache_control !== undefined) return 'a mark on the whole request'
  const turns = Array.isArray(messages) ? messages.filter(isObject).map(({ content }) => content) : []
  const marks = [...ofTools, ...listRawMarks(system), ...turns.flatMap(listRawMarks)]
  if (isObject(cache_control)) marks.push({ block: undefined, ttl: cache_control.ttl ?? '5m' })
  if (marks.length > 4) return `${marks.length} marks`
  const shortest = marks.findIndex(({ ttl }) => ttl !== '1h')
  if (shortest >= 0 && marks.slice(shortest).some(({ ttl }) => ttl === '1h')) return 'a longer lifetime after a shorter'
  if (marks.some(({ ttl }) => ttl !== '5m' && ttl !== '1h')) return 'an unknown lifetime'
  const wrong = marks.find(({ block }) => block && !isEligible(block))
  return wrong && `a mark on ${JSON.stringify(wrong.block)}`
}

interface RawMark {
  block: JsonObject | undefined
  ttl: unknown
}

/** Lists the breakpoints in a list of blocks. A cache point belongs to the preceding block. */
function listRawMarks(blocks: unknown): RawMark[] {
  if (!Array.isArray(blocks)) return []
  return blocks.filter(isObject).flatMap((block, index): RawMark[] => {
    const { cachePoint, cache_control, content } = block
    if (isObject(cachePoint)) return [{ block: blocks[index - 1] ?? { type: 'nothing' }, ttl: cachePoint.ttl ?? '5m' }]
    const inner = listRawMarks(content)
    return isObject(cache_control) ? [...inner, { block, ttl: cache_control.ttl ?? '5m' }] : inner
  })
}

function isEligible({ type, text, cachePoint, reasoningContent }: JsonObject): boolean {
  if (type === 'nothing' || type === 'thinking' || type === 'redacted_thinking' || cachePoint || reasoningContent)
    return false
  return typeof text !== 'string' || text.trim() !== ''
}
