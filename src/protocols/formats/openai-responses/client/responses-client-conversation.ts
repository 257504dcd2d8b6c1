import { compactTurns, getRetentionBudget } from '../../canonical/canonical-compaction.ts'
import { type Fields, readElementFields } from '../../canonical/canonical-fields.ts'
import type { AssistantPart } from '../../canonical/canonical-parts.ts'
import type { CompactionMode } from '../../canonical/canonical-request.ts'
import { readSummary } from '../../canonical/canonical-state.ts'
import type { OfferedTool } from '../../canonical/canonical-tools.ts'
import {
  type SystemTurn,
  separateParagraphs,
  type ToolResult,
  type Turn,
  type UserTurn,
} from '../../canonical/canonical-turns.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import { returnStateToParts } from '../../canonical/state-in-reasoning.ts'
import { parseContent, parseTexts } from '../../openai-fields.ts'
import type { ParseContext } from '../../translator.ts'
import { parseClientResult } from '../responses-client-run-tools.ts'
import { isReference } from '../responses-references.ts'
import { contentSyntax, formatHostedItem, parseAssistantItem } from './responses-client-content.ts'
import { type Namespaces, parseTools } from './responses-client-tools.ts'

interface InputContext extends Pick<ParseContext, 'warnings' | 'getItem'> {
  namespaces: Namespaces
  compact: CompactionMode | undefined
}

interface Conversation {
  turns: Turn[]
  /** Tools that input items declare. */
  tools: OfferedTool[]
}

/** Parses `input`: a string, or items. Consecutive model items become one turn, as do consecutive tool results. */
export function parseInput(body: Fields, context: InputContext): Conversation {
  const { warnings } = context
  const input = body.any('input')
  if (input === undefined) return warnings.reject('input', 'is required.')
  if (typeof input === 'string')
    return { turns: [{ role: 'user', content: [{ type: 'text', text: input }] }], tools: [] }
  if (!Array.isArray(input)) return warnings.reject('input', 'must be a string or an array of items.')
  const reader = new InputReader(context)
  input.forEach((entry: unknown, index) => {
    reader.read(readElementFields(entry, `input[${index}]`, warnings), index === input.length - 1)
  })
  return reader.getConversation()
}

/** Turns a request's items into a conversation. */
class InputReader {
  readonly #context: InputContext
  readonly #turns: Turn[] = []
  readonly #tools: OfferedTool[] = []
  readonly #hostedTexts = new Set<AssistantPart>() // the text parts about OpenAI-run tools
  readonly #openCalls = new Set<string>() // the calls that have no result yet, in order, for results that don't name their call

  constructor(context: InputContext) {
    this.#context = context
  }

  read(entry: Fields, isLast: boolean) {
    const { namespaces, warnings } = this.#context
    const item = isReference(entry.value) ? resolveReference(entry, this.#context) : entry
    if (!item) return
    const parts = parseAssistantItem(item, namespaces, warnings)
    if (parts) return this.#addParts(parts)
    const hostedText = formatHostedItem(item.value)
    if (hostedText !== undefined) return this.addHostedText(hostedText, item)
    const type = item.string('type') ?? 'message'
    switch (type) {
      case 'message': {
        const turn = parseMessage(item, warnings)
        warnings.setPath(turn, item.path)
        this.#turns.push(turn)
        return
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#addResult(item, parseCallOutput(item, this.#readCallId(item), warnings))
      case 'additional_tools':
      case 'tool_search_output':
        this.#tools.push(...parseTools(item, namespaces, warnings))
        if (item.any('execution') === 'client') return rejectItemType(item, type, warnings)
        return
      case 'tool_search_call':
        if (item.any('execution') === 'client') return rejectItemType(item, type, warnings)
        return
      case 'compaction':
      case 'compaction_summary':
        return this.#addCompaction(item)
      case 'compaction_trigger': // if it is the last item, `readCompactionMode` reads it
        if (isLast) return
        return warnings.reject(item.getPath('type'), 'must be the last item of the input.')
      default: {
        const result = parseClientResult(item.value)
        if (!result) return rejectItemType(item, type, warnings)
        const id = item.string('id') // the output's own ID can be the call ID
        const callId = this.#readCallId(item, id !== undefined && this.#openCalls.has(id) ? id : undefined)
        return this.#addResult(item, { ...result, callId })
      }
    }
  }

  /** Adds a compaction. The gateway's own compaction replaces all earlier turns, except instructions and user messages. */
  #addCompaction(item: Fields) {
    const { warnings, compact } = this.#context
    const content =
      item.string('encrypted_content') || warnings.reject(item.getPath('encrypted_content'), 'is required.')
    const summary = readSummary(content)
    if (summary !== undefined) {
      this.#turns.splice(0, this.#turns.length, ...compactTurns(this.#turns, summary, getRetentionBudget(compact)))
      return this.#openCalls.clear()
    }
    const id = item.string('id')
    const part: AssistantPart = {
      type: 'compaction',
      text: '',
      encrypted: id === undefined ? { data: content } : { data: content, id },
    }
    warnings.setPath(part, item.path)
    this.#addParts([part])
  }

  /** Adds the call and the output of an OpenAI-run tool as text, for models that don't have the tool. */
  addHostedText(text: string, item: Fields): void {
    const { warnings } = this.#context
    warnings.recordChange(item.path, text === '' ? 'dropped' : 'replaced')
    if (text === '') return
    const part: AssistantPart = { type: 'text', text }
    this.#hostedTexts.add(part)
    this.#addParts([part])
  }

  #addParts(parts: AssistantPart[]): void {
    for (const part of parts) if (part.type === 'tool-call') this.#openCalls.add(part.id)
    const lastTurn = this.#turns.at(-1)
    if (lastTurn?.role === 'assistant') lastTurn.content.push(...parts)
    else if (parts.length > 0) this.#turns.push({ role: 'assistant', content: [...parts] })
  }

  /** Reads the call that a result belongs to. Without `call_id`, it is the call with `fallbackId`, or else the first call that has no result yet. */
  #readCallId(item: Fields, fallbackId?: string): string {
    const [nextCallId] = this.#openCalls
    return (
      item.string('call_id') ||
      fallbackId ||
      nextCallId ||
      this.#context.warnings.reject(
        item.getPath('call_id'),
        'is required: the ID of the call that this result belongs to.',
      )
    )
  }

  #addResult(item: Fields, result: ToolResult): void {
    this.#context.warnings.setPath(result, item.path)
    this.#openCalls.delete(result.callId)
    const lastTurn = this.#turns.at(-1)
    if (lastTurn?.role === 'tool') lastTurn.results.push(result)
    else this.#turns.push({ role: 'tool', results: [result] })
  }

  getConversation(): Conversation {
    const turns = this.#turns.map(
      (turn): Turn =>
        turn.role === 'assistant'
          ? { ...turn, content: returnStateToParts(separateParagraphs(turn.content, this.#hostedTexts)) }
          : turn,
    )
    return { turns, tools: this.#tools }
  }
}

/** Returns the item that a reference points to. Rejects unknown items, except reasoning, which a conversation can do without. */
function resolveReference(item: Fields, { warnings, getItem }: InputContext): Fields | undefined {
  const id = item.string('id') ?? ''
  const storedItem = getItem?.(id)
  if (storedItem) return readElementFields(storedItem, item.path, warnings)
  if (id.startsWith('rs_')) return void warnings.recordDrop(item.path)
  const reason = `this gateway does not store the item "${id}" or no longer has it. Send the items themselves, as clients do with "store": false.`
  return warnings.reject(item.getPath('type'), reason)
}

const rejectItemType = (item: Fields, type: string, warnings: Warnings): never =>
  warnings.reject(item.getPath('type'), `items of type "${type}" only work with one vendor.`)

function parseCallOutput(item: Fields, callId: string, warnings: Warnings): ToolResult {
  const result = omitUndefined<ToolResult>({
    callId,
    name: item.string('name'),
    content: parseContent(item, 'output', warnings, contentSyntax),
    isFreeForm: item.string('type') === 'custom_tool_call_output' || undefined,
  })
  item.ignore('id', 'status')
  item.dropUnread()
  return result
}

function parseMessage(item: Fields, warnings: Warnings): SystemTurn | UserTurn {
  const role = item.string('role')
  item.ignore('id', 'status', 'type', 'content')
  item.dropUnread()
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', sentAs: role, content: parseTexts(item, warnings, contentSyntax) }
    case 'user':
      return { role: 'user', content: parseContent(item, 'content', warnings, contentSyntax) }
    default:
      return warnings.reject(item.getPath('role'), 'must be system, developer, user, or assistant.')
  }
}
