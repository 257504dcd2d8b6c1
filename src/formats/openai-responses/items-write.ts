import type { JsonObject } from '../../lib/json.ts'
import { dropLabels } from '../canonical/drop-labels.ts'
import type { AssistantPart, RefusalPart, TextPart, ToolCallPart } from '../canonical/parts.ts'
import type { SystemTurn, ToolResult, Turn } from '../canonical/turns.ts'
import type { TargetContext } from '../translator.ts'
import { wireAnnotation } from './annotations.ts'
import { compactionInput } from './compaction.ts'
import { phaseOf } from './output-write.ts'
import { writeContent } from './parts-write.ts'
import { writeThoughtInput } from './reasoning.ts'
import type { WireInputItem, WireInputPart, WireSaidPart } from './wire.ts'

/** What the client has of OpenAI's own is passed on as it is. */
type Item = WireInputItem | JsonObject

/** `input`: each turn as the items that it is made of, in their order. Without any item a request is refused. */
export function writeItems(turns: readonly Turn[], target: TargetContext): Item[] {
  const items = turns.flatMap((turn) => writeTurn(turn, target))
  return items.length > 0 ? items : [{ type: 'message', role: 'user', content: '' }]
}

function writeTurn(turn: Turn, target: TargetContext): Item[] {
  dropLabels(turn, target.warnings, { phases: true, citations: ({ url }) => url !== undefined })
  switch (turn.role) {
    case 'system':
      return [writeSystem(turn, target)]
    case 'user':
      return [{ type: 'message', role: 'user', content: writeContent(turn.content, target) }]
    case 'assistant':
      return writeAssistant(turn.content, target)
    case 'tool':
      return turn.results.map(
        (result) =>
          ownForm(result, result.callId, target) ?? {
            type: result.isFreeForm ? 'custom_tool_call_output' : 'function_call_output',
            call_id: result.callId,
            output: writeResult(result, target),
          },
      )
  }
}

/** Instructions that do not stand at the start are told as what they are told like at the start. */
function writeSystem({ as, content }: SystemTurn, target: TargetContext): WireInputItem {
  const isDeveloper = as === 'developer' || (as === 'instructions' && target.traits.developerRole)
  return { type: 'message', role: isDeveloper ? 'developer' : 'system', content: writeContent(content, target) }
}

/** The parts of a turn; the texts stand before its calls for providers that refuse anything between a call and its result. */
function ordered(content: readonly AssistantPart[], { traits }: TargetContext): readonly AssistantPart[] {
  const first = content.findIndex(({ type }) => type === 'tool-call')
  if (traits.textAfterCalls || first === -1) return content
  const rest = content.slice(first)
  return [...content.slice(0, first), ...rest.filter(isSaid), ...rest.filter((part) => !isSaid(part))]
}

const isSaid = (part: AssistantPart): part is TextPart | RefusalPart => part.type === 'text' || part.type === 'refusal'

function writeAssistant(content: readonly AssistantPart[], target: TargetContext): Item[] {
  const items: Item[] = []
  let said: (TextPart | RefusalPart)[] = []

  function flush() {
    if (said.length > 0) items.push(writeSaid(said))
    said = []
  }

  for (const part of ordered(content, target)) {
    if ('cache' in part && part.cache) target.warnings.dropped(target.warnings.pathOf(part.cache, 'cache')) // it stands on input
    if (!isSaid(part) || phaseOf(part) !== phaseOf(said[0])) flush()
    if (isSaid(part)) said.push(part)
    else items.push(...writeMade(part, target))
  }
  flush()
  return items
}

/** Texts that follow each other are one message. */
function writeSaid(parts: readonly (TextPart | RefusalPart)[]): WireInputItem {
  const [only] = parts
  const phase = phaseOf(only)
  const isPlain = parts.length === 1 && only?.type === 'text' && !only.citations
  const content = isPlain ? only.text : parts.map(writeSaidPart)
  const message = { type: 'message', role: 'assistant', content } as const
  return phase ? { ...message, phase } : message
}

function writeSaidPart(part: TextPart | RefusalPart): WireSaidPart {
  const { type, text } = part
  if (type === 'refusal') return { type, refusal: text }
  const annotations = (part.citations ?? []).flatMap((citation) => wireAnnotation(citation, text.length) ?? [])
  return { type: 'output_text', text, annotations }
}

function writeMade(part: Exclude<AssistantPart, TextPart | RefusalPart>, target: TargetContext): Item[] {
  switch (part.type) {
    case 'reasoning':
      return [writeThoughtInput(part)]
    case 'tool-call':
      return [ownForm(part, part.id, target) ?? writeCall(part)]
    case 'server-tool': // has been told as text already
      return []
    case 'compaction':
      return part.encrypted ? [compactionInput(part.encrypted)] : []
    case 'image': // a user has shown it already
      return []
    case 'audio':
      if (part.transcript === undefined) target.warnings.dropped(target.warnings.pathOf(part, 'audio'))
      return part.transcript ? [writeSaid([{ type: 'text', text: part.transcript }])] : []
  }
}

/** The item of a tool of OpenAI's own that the client runs, for a target that knows it: under no id of its own, which only stored items have. */
function ownForm(
  { own }: ToolCallPart | ToolResult,
  callId: string,
  { traits }: TargetContext,
): JsonObject | undefined {
  if (!traits.ownTools || own?.format !== 'openai-responses') return undefined
  const { id: _, ...item } = own.value
  return item.type === 'local_shell_call_output' ? { ...item, id: callId } : { ...item, call_id: callId }
}

function writeCall({ id, name, arguments: input, isFreeForm }: ToolCallPart): WireInputItem {
  return isFreeForm
    ? { type: 'custom_tool_call', call_id: id, name, input }
    : { type: 'function_call', call_id: id, name, arguments: input || '{}' }
}

/**
 * A tool's result has no mark for an error, so the text says it. Providers that take nothing but text from tools know no parts either.
 */
function writeResult({ content, isError, cache }: ToolResult, target: TargetContext): string | WireInputPart[] {
  const last = content.at(-1)
  const marked = cache && last && last.type !== 'video' ? [...content.slice(0, -1), { ...last, cache }] : content
  const written = writeContent(marked, target)
  const mark = isError ? 'Error: ' : ''
  if (typeof written === 'string') return mark + written
  const texts = written.flatMap((part) => (part.type === 'input_text' ? [part.text] : []))
  if (target.traits.toolResultInputs.length === 0 && texts.length === written.length) return mark + texts.join('\n')
  return isError ? [{ type: 'input_text', text: mark }, ...written] : written
}
