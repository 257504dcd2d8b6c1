import { isObject, type JsonObject } from '../../../lib/json.ts'
import { argumentsText } from '../../canonical/arguments.ts'
import { elementFields, type Fields } from '../../canonical/fields.ts'
import type { AssistantPart, ToolCallPart, UserPart } from '../../canonical/parts.ts'
import { returnStateToParts } from '../../canonical/state-in-reasoning.ts'
import { type SystemTurn, separateParagraphs, type ToolResult, type Turn } from '../../canonical/turns.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import { parseCitations } from '../citations.ts'
import { parseMark, parseServerResult, type RunningCalls } from '../fields.ts'
import { blocksOf, parseBlock, parseSource, parseText, parseTexts } from './content.ts'
import { parseRedacted, parseThinking } from './reasoning.ts'

/** Parses `system` and `messages`. Results of tools, which are blocks of a user in this format, become turns of their own. */
export function parseTurns(body: Fields, warnings: Warnings): Turn[] {
  const messages = body.list('messages') ?? warnings.refuse('messages', 'is required.')
  const turns: Turn[] = parseSystem(body, warnings)
  messages.forEach((entry, index) => {
    const message = elementFields(entry, `messages[${index}]`, warnings)
    for (const turn of parseMessage(message, warnings)) {
      warnings.place(turn, message.at)
      const last = turns.at(-1)
      if (turn.role === 'tool' && last?.role === 'tool') last.results.push(...turn.results)
      else turns.push(turn)
    }
    message.drop()
  })
  return turns
}

function parseSystem(body: Fields, warnings: Warnings): SystemTurn[] {
  return parseTexts(body, 'system', warnings).map((part) => ({ role: 'system', as: 'instructions', content: [part] }))
}

function parseMessage(message: Fields, warnings: Warnings): Turn[] {
  const role = message.text('role')
  if (message.any('content') === undefined) warnings.refuse(message.path('content'), 'is required.')
  switch (role) {
    case 'user':
      return parseUser(message, warnings)
    case 'assistant':
      return [{ role, content: parseAssistant(blocksOf(message, 'content', warnings), warnings) }]
    case 'system':
      return [{ role, as: 'system', content: parseTexts(message, 'content', warnings) }]
    default:
      return warnings.refuse(message.path('role'), 'must be user, assistant or system.')
  }
}

function parseUser(message: Fields, warnings: Warnings): Turn[] {
  const results: ToolResult[] = []
  const content: UserPart[] = []
  for (const block of blocksOf(message, 'content', warnings)) {
    if (block.text('type') === 'tool_result') results.push(parseResult(block, warnings))
    else content.push(...parseBlock(block, warnings))
  }
  const turns: Turn[] = results.length > 0 ? [{ role: 'tool', results }] : []
  if (content.length > 0 || results.length === 0) turns.push({ role: 'user', content })
  return turns
}

function parseResult(block: Fields, warnings: Warnings): ToolResult {
  const result = defined<ToolResult>({
    callId: block.text('tool_use_id') ?? warnings.refuse(block.path('tool_use_id'), 'is required.'),
    content: blocksOf(block, 'content', warnings).flatMap((inner) => parseBlock(inner, warnings)),
    isError: block.flag('is_error') || undefined,
    cache: parseMark(block, warnings),
  })
  block.drop()
  warnings.place(result, block.at)
  return result
}

/** Parses an earlier answer that the client returns. */
function parseAssistant(blocks: readonly Fields[], warnings: Warnings): AssistantPart[] {
  const searches: Searches = { running: new Map(), places: new Map() }
  const inserted = new Set<AssistantPart>()
  const parts = blocks.flatMap((block) => {
    const part = parsePart(block, searches, warnings)
    block.drop()
    if (!part) return []
    warnings.place(part, block.at)
    if (part.type === 'text' && block.text('type') !== 'text') inserted.add(part)
    return [part]
  })
  for (const place of searches.places.values()) warnings.noteDropped(place) // searches without results
  return returnStateToParts(separateParagraphs(parts, inserted))
}

/** Web searches that have no results yet, by id: their blocks, and their paths in the request. */
interface Searches {
  running: RunningCalls
  places: Map<string, string>
}

function parsePart(block: Fields, { running, places }: Searches, warnings: Warnings): AssistantPart | undefined {
  const type = block.text('type')
  switch (type) {
    case 'text': {
      const citations = parseCitations(block.any('citations'))
      const part = parseText(block, warnings)
      return part && citations ? { ...part, citations } : part
    }
    case 'thinking':
      block.ignore('cache_control') // Anthropic refuses it on such blocks
      return parseThinking(block.text('thinking') ?? '', block.text('signature') ?? '')
    case 'redacted_thinking':
      return parseRedacted(block.text('data') ?? '')
    case 'tool_use':
      return parseCall(block, warnings)
    case 'image':
      return { type, source: parseSource(block, warnings) }
    case 'web_search_tool_result':
      places.delete(block.text('tool_use_id') ?? '')
      return parseServerResult(ignoreAll(block), running, {})
    case 'fallback': // marks where another model of Anthropic has gone on
      ignoreAll(block)
      return void warnings.noteDropped(block.at)
    case 'server_tool_use':
      if (block.text('name') === 'web_search') {
        const id = block.text('id') ?? ''
        running.set(id, ignoreAll(block))
        places.set(id, block.at)
        return undefined
      }
  }
  return parseServerBlock(block, warnings)
}

function parseCall(block: Fields, warnings: Warnings): ToolCallPart {
  const required = (name: string) => block.text(name) ?? warnings.refuse(block.path(name), 'is required.')
  block.ignore('caller')
  return defined<ToolCallPart>({
    type: 'tool-call',
    id: required('id'),
    name: required('name'),
    arguments: argumentsText(block.any('input')),
    cache: parseMark(block, warnings),
  })
}

/** A block about a tool that ran at Anthropic becomes its readable text, for a model without that tool. */
function parseServerBlock(block: Fields, warnings: Warnings): AssistantPart | undefined {
  const text = serverToolText(ignoreAll(block))
  if (text === undefined)
    return warnings.refuse(block.path('type'), `"${block.text('type')}" is no type of content that can be passed on.`)
  warnings.noteChanged(block.at, text === '' ? 'dropped' : 'replaced')
  return text === '' ? undefined : { type: 'text', text }
}

function ignoreAll(block: Fields) {
  block.ignore(...Object.keys(block.value))
  return block.value
}

/**
 * The readable text of a block about a tool that ran at Anthropic; empty when it has none, `undefined` when it is no such block. Encrypted
 * content is left out.
 */
function serverToolText(block: JsonObject): string | undefined {
  const type = String(block.type)
  if (type.startsWith('tool_search') || block.name === 'tool_search') return '' // all tools are declared anyway
  if (type === 'server_tool_use' || type === 'mcp_tool_use') {
    if (String(block.name).startsWith('tool_search')) return ''
    return `${block.name}(${isObject(block.input) ? scalarsOf(block.input).join(', ') : ''})`
  }
  if (type === 'compaction' || type.endsWith('_tool_result')) return textsOf(block.content).join('\n')
  return undefined
}

const scalarsOf = (input: JsonObject): string[] =>
  Object.entries(input).flatMap(([name, value]) => (typeof value === 'object' ? [] : [`${name}: ${value}`]))

/** All readable texts within a value, in their order. */
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
