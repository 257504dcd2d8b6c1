import { isObject, type JsonObject } from '../../lib/json.ts'

/**
 * A block of history about a tool that ran at Anthropic, as text that another model can read; empty when there is nothing to read in it,
 * undefined when it is no such block. What is encrypted stays out.
 */
export function serverToolText(block: JsonObject): string | undefined {
  const type = String(block.type)
  if (type.startsWith('tool_search') || block.name === 'tool_search') return '' // the tools are declared in any case
  if (type === 'server_tool_use' || type === 'mcp_tool_use') {
    if (String(block.name).startsWith('tool_search')) return ''
    return `${block.name}(${isObject(block.input) ? scalarsOf(block.input).join(', ') : ''})`
  }
  if (type === 'compaction' || type.endsWith('_tool_result')) return textsOf(block.content).join('\n')
  return undefined
}

const scalarsOf = (input: JsonObject): string[] =>
  Object.entries(input).flatMap(([name, value]) => (typeof value === 'object' ? [] : [`${name}: ${value}`]))

/** All texts for people within a value, in their order. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (!isObject(value)) return []
  if (value.type === 'base64') return []
  return Object.keys(value).flatMap((name) => (READABLE.has(name) ? textsOf(value[name]) : []))
}

const READABLE: ReadonlySet<string> = new Set([
  ...['content', 'text', 'title', 'url', 'source', 'data', 'lines'],
  ...['stdout', 'stderr', 'error_code', 'error_message'],
])
