import { formatScalar, isObject, type JsonObject } from '../../../../lib/json.ts'
import { stringifyArguments } from '../../canonical/canonical-arguments.ts'
import { type Fields, readElementFields, requireString } from '../../canonical/canonical-fields.ts'
import type { AssistantPart, ToolCallPart, UserPart } from '../../canonical/canonical-parts.ts'
import { separateParagraphs, type ToolResult, type Turn } from '../../canonical/canonical-turns.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import { returnStateToParts } from '../../canonical/state-in-reasoning.ts'
import { parseCitations } from '../anthropic-citations.ts'
import { type PendingCalls, parseBreakpoint, parseServerResult } from '../anthropic-fields.ts'
import { parseBlock, parseSource, parseText, parseTexts, readBlocks } from './anthropic-client-content.ts'
import { parseRedacted, parseThinking } from './anthropic-client-reasoning.ts'

/** Parses `system` and `messages`. Tool results, which are user blocks in this format, become separate turns. */
export function parseTurns(body: Fields, warnings: Warnings): Turn[] {
  const messages = body.list('messages') ?? warnings.reject('messages', 'is required.')
  const turns: Turn[] = parseTexts(body, 'system', warnings).map((part) => ({
    role: 'system',
    sentAs: 'instructions',
    content: [part],
  }))
  messages.forEach((entry, index) => {
    const message = readElementFields(entry, `messages[${index}]`, warnings)
    for (const turn of parseMessage(message, warnings)) {
      warnings.setPath(turn, message.path)
      const lastTurn = turns.at(-1)
      if (turn.role === 'tool' && lastTurn?.role === 'tool') lastTurn.results.push(...turn.results)
      else turns.push(turn)
    }
    message.dropUnread()
  })
  return turns
}

function parseMessage(message: Fields, warnings: Warnings): Turn[] {
  const role = message.string('role')
  if (message.any('content') === undefined) warnings.reject(message.getPath('content'), 'is required.')
  switch (role) {
    case 'user':
      return parseUser(message, warnings)
    case 'assistant':
      return [{ role, content: parseAssistant(readBlocks(message, 'content', warnings), warnings) }]
    case 'system':
      return [{ role, sentAs: 'system', content: parseTexts(message, 'content', warnings) }]
    default:
      return warnings.reject(message.getPath('role'), 'must be user, assistant, or system.')
  }
}

function parseUser(message: Fields, warnings: Warnings): Turn[] {
  const results: ToolResult[] = []
  const content: UserPart[] = []
  for (const block of readBlocks(message, 'content', warnings)) {
    if (block.string('type') === 'tool_result') results.push(parseResult(block, warnings))
    else content.push(...parseBlock(block, warnings))
  }
  const turns: Turn[] = results.length > 0 ? [{ role: 'tool', results }] : []
  if (content.length > 0 || results.length === 0) turns.push({ role: 'user', content })
  return turns
}

function parseResult(block: Fields, warnings: Warnings): ToolResult {
  const result = omitUndefined<ToolResult>({
    callId: requireString(block, 'tool_use_id', warnings),
    content: readBlocks(block, 'content', warnings).flatMap((resultBlock) => parseBlock(resultBlock, warnings)),
    isError: block.boolean('is_error') || undefined,
    cache: parseBreakpoint(block, warnings),
  })
  block.dropUnread()
  warnings.setPath(result, block.path)
  return result
}

function parseAssistant(blocks: readonly Fields[], warnings: Warnings): AssistantPart[] {
  const pendingSearches: PendingSearches = { pendingCalls: new Map(), pathsById: new Map() }
  const insertedParts = new Set<AssistantPart>()
  const parts = blocks.flatMap((block) => {
    const part = parsePart(block, pendingSearches, warnings)
    block.dropUnread()
    if (!part) return []
    warnings.setPath(part, block.path)
    if (part.type === 'text' && block.string('type') !== 'text') insertedParts.add(part)
    return [part]
  })
  for (const path of pendingSearches.pathsById.values()) warnings.recordDrop(path) // these searches have no results
  return returnStateToParts(separateParagraphs(parts, insertedParts))
}

/** Web searches without results so far, by ID: their blocks and their paths in the request. */
interface PendingSearches {
  pendingCalls: PendingCalls
  pathsById: Map<string, string>
}

function parsePart(
  block: Fields,
  { pendingCalls, pathsById }: PendingSearches,
  warnings: Warnings,
): AssistantPart | undefined {
  const type = block.string('type')
  switch (type) {
    case 'text': {
      const citations = parseCitations(block.any('citations'))
      const part = parseText(block, warnings)
      return part && citations ? { ...part, citations } : part
    }
    case 'thinking':
      block.ignore('cache_control') // Anthropic rejects `cache_control` on these blocks
      return parseThinking(block.string('thinking') ?? '', block.string('signature') ?? '')
    case 'redacted_thinking':
      return parseRedacted(block.string('data') ?? '')
    case 'tool_use':
      return parseCall(block, warnings)
    case 'image':
      return { type, source: parseSource(block, warnings) }
    case 'web_search_tool_result':
      pathsById.delete(block.string('tool_use_id') ?? '')
      return parseServerResult(ignoreAllFields(block), pendingCalls, {})
    case 'fallback': // marks where another Anthropic model took over
      ignoreAllFields(block)
      return void warnings.recordDrop(block.path)
    case 'server_tool_use':
      if (block.string('name') === 'web_search') {
        const id = block.string('id') ?? ''
        pendingCalls.set(id, ignoreAllFields(block))
        pathsById.set(id, block.path)
        return undefined
      }
  }
  return parseServerBlock(block, warnings)
}

function parseCall(block: Fields, warnings: Warnings): ToolCallPart {
  block.ignore('caller')
  return omitUndefined<ToolCallPart>({
    type: 'tool-call',
    id: requireString(block, 'id', warnings),
    name: requireString(block, 'name', warnings),
    arguments: stringifyArguments(block.any('input')),
    cache: parseBreakpoint(block, warnings),
  })
}

/** Replaces a block about an Anthropic-run tool with its readable text, for models without that tool. */
function parseServerBlock(block: Fields, warnings: Warnings): AssistantPart | undefined {
  const text = getServerToolText(ignoreAllFields(block))
  if (text === undefined)
    return warnings.reject(block.getPath('type'), `content of type "${block.string('type')}" is not supported.`)
  warnings.recordChange(block.path, text === '' ? 'dropped' : 'replaced')
  return text === '' ? undefined : { type: 'text', text }
}

function ignoreAllFields(block: Fields) {
  block.ignore(...Object.keys(block.value))
  return block.value
}

/**
 * Returns the readable text in a block about an Anthropic-run tool. The text is empty if the block has none. Encrypted content is omitted. Returns
 * `undefined` for other blocks.
 */
function getServerToolText(block: JsonObject): string | undefined {
  const type = formatScalar(block.type)
  if (type.startsWith('tool_search') || block.name === 'tool_search') return '' // all tools are declared anyway
  if (type === 'server_tool_use' || type === 'mcp_tool_use') {
    if (formatScalar(block.name).startsWith('tool_search')) return ''
    return `${block.name}(${isObject(block.input) ? formatScalars(block.input).join(', ') : ''})`
  }
  if (type === 'compaction' || type.endsWith('_tool_result')) return collectTexts(block.content).join('\n')
  return undefined
}

const formatScalars = (input: JsonObject): string[] =>
  Object.entries(input).flatMap(([name, value]) => (typeof value === 'object' ? [] : [`${name}: ${value}`]))

function collectTexts(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (Array.isArray(value)) return value.flatMap(collectTexts)
  if (!isObject(value)) return []
  if (value.type === 'base64') return []
  return Object.keys(value).flatMap((name) => (READABLE_BLOCK_TYPES.has(name) ? collectTexts(value[name]) : []))
}

const READABLE_BLOCK_TYPES: ReadonlySet<string> = new Set([
  ...['content', 'text', 'title', 'url', 'source', 'data', 'lines'],
  ...['stdout', 'stderr', 'error_code', 'error_message'],
])
