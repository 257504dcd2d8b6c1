import { compactedTurns, keptTokens } from '../canonical/compaction.ts'
import { defined } from '../canonical/defined.ts'
import { attachStates } from '../canonical/detach.ts'
import { elementFields, type Fields } from '../canonical/fields.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { CompactionWish } from '../canonical/request.ts'
import { setApart } from '../canonical/set-apart.ts'
import { readSummary } from '../canonical/state.ts'
import type { SystemTurn, ToolResult, Turn, UserTurn } from '../canonical/turns.ts'
import type { OfferedTool } from '../canonical/vendor-tools.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { parseContent, parseTexts } from '../openai-content.ts'
import type { ParseContext } from '../translator.ts'
import { parseAssistantItem } from './assistant-parse.ts'
import { clientResult } from './client-tools.ts'
import { hostedText } from './hosted-items.ts'
import type { Namespaces } from './namespaces.ts'
import { itemContent } from './parts-parse.ts'
import { parseTools } from './tools-parse.ts'

/** What the parsing of items depends on besides. */
interface InputContext extends Pick<ParseContext, 'warnings' | 'itemOf'> {
  namespaces: Namespaces
  /** Is the conversation to be compacted? */
  compact: CompactionWish | undefined
}

interface Conversation {
  turns: Turn[]
  /** Tools that were only declared on the way. */
  tools: OfferedTool[]
}

/** `input`: a text, or items. Items that the model made one after the other are one turn, and so are the results of its calls. */
export function parseInput(body: Fields, context: InputContext): Conversation {
  const { warnings } = context
  const input = body.any('input')
  if (input === undefined) return warnings.refuse('input', 'is required.')
  if (typeof input === 'string')
    return { turns: [{ role: 'user', content: [{ type: 'text', text: input }] }], tools: [] }
  if (!Array.isArray(input)) return warnings.refuse('input', 'must be a string or an array of items.')
  const reader = createItemReader(context)
  input.forEach((entry: unknown, index) => {
    reader.read(elementFields(entry, `input[${index}]`, warnings), index === input.length - 1)
  })
  return reader.conversation()
}

function createItemReader({ namespaces, warnings, itemOf, compact }: InputContext) {
  const turns: Turn[] = []
  const tools: OfferedTool[] = []
  const told = new Set<AssistantPart>()
  const openCalls = new Set<string>() // in their order, for results that do not say whose they are

  function read(entry: Fields, isLast: boolean) {
    const item = entry.text('type') === 'item_reference' ? referredTo(entry) : entry
    if (!item) return
    const said = parseAssistantItem(item, namespaces, warnings)
    if (said) return say(said)
    const hosted = hostedText(item.value)
    if (hosted !== undefined) return tell(hosted, item)
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
        return answer(parseResult(item, type === 'custom_tool_call_output'))
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
        return compacted(item)
      case 'compaction_trigger': // the last one says what is wanted
        if (isLast) return
        return warnings.refuse(item.path('type'), 'must be the last item of the input.')
      default: {
        const result = clientResult(item.value)
        return result ? answer(ownResult(item, result)) : refuse(item, type)
      }
    }
  }

  /** What stands before the gateway's own summary is in it, but for instructions and the messages of the user. */
  function compacted(item: Fields) {
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
    say([part])
  }

  /** What tools that ran at OpenAI were given and gave, for a model that never had them. */
  function tell(text: string, item: Fields) {
    warnings.changed(item.at, text === '' ? 'dropped' : 'replaced')
    if (text === '') return
    const part: AssistantPart = { type: 'text', text }
    told.add(part)
    say([part])
  }

  function say(parts: AssistantPart[]) {
    for (const part of parts) if (part.type === 'tool-call') openCalls.add(part.id)
    const last = turns.at(-1)
    if (last?.role === 'assistant') last.content.push(...parts)
    else if (parts.length > 0) turns.push({ role: 'assistant', content: [...parts] })
  }

  /** The output of a tool that OpenAI defines and the client runs; some have the id of the call as their own. */
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
      content: parseContent(item, 'output', warnings, itemContent),
      isFreeForm: isFreeForm || undefined,
    })
    item.ignore('id', 'status')
    item.drop()
    warnings.place(result, item.at)
    return result
  }

  function answer(result: ToolResult) {
    openCalls.delete(result.callId)
    const last = turns.at(-1)
    if (last?.role === 'tool') last.results.push(result)
    else turns.push({ role: 'tool', results: [result] })
  }

  /** The item that is meant. One that is gone is a hole in the conversation, unless it is a thought. */
  function referredTo(item: Fields): Fields | undefined {
    const id = item.text('id') ?? ''
    const known = itemOf?.(id)
    if (known) return elementFields(known, item.at, warnings)
    if (id.startsWith('rs_')) return void warnings.dropped(item.at)
    const why = `the item "${id}" is not remembered here, or no longer: send the items themselves, as clients do with "store": false.`
    return warnings.refuse(item.path('type'), why)
  }

  const refuse = (item: Fields, type: string): never =>
    warnings.refuse(item.path('type'), `an item of type "${type}" works at one vendor only and cannot be passed on.`)

  return {
    read,
    conversation(): Conversation {
      const whole = turns.map(
        (turn): Turn =>
          turn.role === 'assistant' ? { ...turn, content: attachStates(setApart(turn.content, told)) } : turn,
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
      return { role: 'system', as: role, content: parseTexts(item, 'content', warnings, itemContent) }
    case 'user':
      return { role: 'user', content: parseContent(item, 'content', warnings, itemContent) }
    default:
      return warnings.refuse(item.path('role'), 'must be system, developer, user or assistant.')
  }
}
