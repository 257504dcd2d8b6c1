import { compactedTurns, keptTokens } from '../../canonical/compaction.ts'
import { elementFields, type Fields } from '../../canonical/fields.ts'
import type { AssistantPart } from '../../canonical/parts.ts'
import type { CompactionMode } from '../../canonical/request.ts'
import { readSummary } from '../../canonical/state.ts'
import { returnStateToParts } from '../../canonical/state-in-reasoning.ts'
import type { OfferedTool } from '../../canonical/tools.ts'
import {
  type SystemTurn,
  separateParagraphs,
  type ToolResult,
  type Turn,
  type UserTurn,
} from '../../canonical/turns.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import { parseContent, parseTexts } from '../../openai-fields.ts'
import type { ParseContext } from '../../translator.ts'
import { clientResult } from '../client-tools.ts'
import { contentForm, parseAssistantItem, textOfHostedItem } from './content.ts'
import { type Namespaces, parseTools } from './tools.ts'

/** The inputs for parsing items, in addition to the items. */
interface InputContext extends Pick<ParseContext, 'warnings' | 'itemOf'> {
  namespaces: Namespaces
  /** Is the conversation to be compacted? */
  compact: CompactionMode | undefined
}

interface Conversation {
  turns: Turn[]
  /** Tools that are declared by items of the input. */
  tools: OfferedTool[]
}

/** Parses `input`: a text, or items. Consecutive items of the model become one turn, and so do consecutive results of its calls. */
export function parseInput(body: Fields, context: InputContext): Conversation {
  const { warnings } = context
  const input = body.any('input')
  if (input === undefined) return warnings.refuse('input', 'is required.')
  if (typeof input === 'string')
    return { turns: [{ role: 'user', content: [{ type: 'text', text: input }] }], tools: [] }
  if (!Array.isArray(input)) return warnings.refuse('input', 'must be a string or an array of items.')
  const reader = createInputReader(context)
  input.forEach((entry: unknown, index) => {
    reader.read(elementFields(entry, `input[${index}]`, warnings), index === input.length - 1)
  })
  return reader.conversation()
}

/** Creates a reader that turns items into the turns of a conversation, one item after the other. */
function createInputReader({ namespaces, warnings, itemOf, compact }: InputContext) {
  const turns: Turn[] = []
  const tools: OfferedTool[] = []
  const hosted = new Set<AssistantPart>() // texts about tools that ran at OpenAI
  const openCalls = new Set<string>() // without a result yet, in their order, for results that do not name their call

  function read(entry: Fields, isLast: boolean) {
    const item = entry.text('type') === 'item_reference' ? resolveReference(entry) : entry
    if (!item) return
    const parts = parseAssistantItem(item, namespaces, warnings)
    if (parts) return addParts(parts)
    const hostedText = textOfHostedItem(item.value)
    if (hostedText !== undefined) return addHosted(hostedText, item)
    const type = item.text('type') ?? 'message'
    switch (type) {
      case 'message': {
        const turn = parseMessage(item, warnings)
        warnings.place(turn, item.at)
        turns.push(turn)
        return
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        return addResult(parseResult(item, type === 'custom_tool_call_output'))
      case 'additional_tools':
      case 'tool_search_output':
        tools.push(...parseTools(item, namespaces, warnings))
        if (item.any('execution') === 'client') return refuse(item, type)
        return
      case 'tool_search_call':
        if (item.any('execution') === 'client') return refuse(item, type)
        return
      case 'compaction':
      case 'compaction_summary':
        return addCompaction(item)
      case 'compaction_trigger': // as the last item it is read by `compactionIn`
        if (isLast) return
        return warnings.refuse(item.path('type'), 'must be the last item of the input.')
      default: {
        const result = clientResult(item.value)
        return result ? addResult(ownResult(item, result)) : refuse(item, type)
      }
    }
  }

  /** Adds a compaction. The gateway's own replaces all turns before it, except instructions and messages of the user. */
  function addCompaction(item: Fields) {
    const content = item.text('encrypted_content') || warnings.refuse(item.path('encrypted_content'), 'is required.')
    const summary = readSummary(content)
    if (summary !== undefined) {
      turns.splice(0, turns.length, ...compactedTurns(turns, summary, keptTokens(compact)))
      return openCalls.clear()
    }
    const id = item.text('id')
    const part: AssistantPart = {
      type: 'compaction',
      text: '',
      encrypted: id === undefined ? { data: content } : { data: content, id },
    }
    warnings.place(part, item.at)
    addParts([part])
  }

  /** Adds the call and the output of a tool that ran at OpenAI as text, for models that do not have the tool. */
  function addHosted(text: string, item: Fields) {
    warnings.noteChanged(item.at, text === '' ? 'dropped' : 'replaced')
    if (text === '') return
    const part: AssistantPart = { type: 'text', text }
    hosted.add(part)
    addParts([part])
  }

  function addParts(parts: AssistantPart[]) {
    for (const part of parts) if (part.type === 'tool-call') openCalls.add(part.id)
    const last = turns.at(-1)
    if (last?.role === 'assistant') last.content.push(...parts)
    else if (parts.length > 0) turns.push({ role: 'assistant', content: [...parts] })
  }

  /** The output of a tool that OpenAI defines and the client runs; some outputs have the id of their call as their own id. */
  function ownResult(item: Fields, found: Omit<ToolResult, 'callId'>): ToolResult {
    const id = item.text('id')
    const result = { ...found, callId: callIdOf(item, id !== undefined && openCalls.has(id) ? id : undefined) }
    warnings.place(result, item.at)
    return result
  }

  function callIdOf(item: Fields, otherwise?: string): string {
    const [next] = openCalls
    return (
      item.text('call_id') ||
      otherwise ||
      next ||
      warnings.refuse(item.path('call_id'), 'is required: the id of the call that this is the result of.')
    )
  }

  function parseResult(item: Fields, isFreeForm: boolean): ToolResult {
    const result = defined<ToolResult>({
      callId: callIdOf(item),
      name: item.text('name'),
      content: parseContent(item, 'output', warnings, contentForm),
      isFreeForm: isFreeForm || undefined,
    })
    item.ignore('id', 'status')
    item.drop()
    warnings.place(result, item.at)
    return result
  }

  function addResult(result: ToolResult) {
    openCalls.delete(result.callId)
    const last = turns.at(-1)
    if (last?.role === 'tool') last.results.push(result)
    else turns.push({ role: 'tool', results: [result] })
  }

  /** The item that a reference names. One that is not remembered is refused; only reasoning can be left out of a conversation. */
  function resolveReference(item: Fields): Fields | undefined {
    const id = item.text('id') ?? ''
    const known = itemOf?.(id)
    if (known) return elementFields(known, item.at, warnings)
    if (id.startsWith('rs_')) return void warnings.noteDropped(item.at)
    const reason = `the item "${id}" is not remembered here, or no longer: send the items themselves, as clients do with "store": false.`
    return warnings.refuse(item.path('type'), reason)
  }

  const refuse = (item: Fields, type: string): never =>
    warnings.refuse(item.path('type'), `an item of type "${type}" works at one vendor only and cannot be passed on.`)

  return {
    read,
    conversation(): Conversation {
      const whole = turns.map(
        (turn): Turn =>
          turn.role === 'assistant'
            ? { ...turn, content: returnStateToParts(separateParagraphs(turn.content, hosted)) }
            : turn,
      )
      return { turns: whole, tools }
    },
  }
}

function parseMessage(item: Fields, warnings: Warnings): SystemTurn | UserTurn {
  const role = item.text('role')
  item.ignore('id', 'status', 'type', 'content')
  item.drop()
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', as: role, content: parseTexts(item, 'content', warnings, contentForm) }
    case 'user':
      return { role: 'user', content: parseContent(item, 'content', warnings, contentForm) }
    default:
      return warnings.refuse(item.path('role'), 'must be system, developer, user or assistant.')
  }
}
