import { dropLabels } from '../canonical/drop-labels.ts'
import { GO_ON } from '../canonical/go-on.ts'
import type { Turn } from '../canonical/turns.ts'
import type { TargetContext } from '../translator.ts'
import { type WriteState, writeAssistant, writeMark, writePart, writeResult, writeText } from './parts-write.ts'
import type { WireBlock, WireMessage } from './wire.ts'

/** `system` and `messages`. Users and the model take turns; a user begins, and says something to each document. */
export function writeTurns(turns: readonly Turn[], target: TargetContext) {
  const state: WriteState = { ...target, names: new Set() }
  const first = turns.findIndex(({ role }) => role !== 'system')
  const lead = first === -1 ? turns.length : first
  for (const turn of turns) dropLabels(turn, target.warnings, {})
  const system = turns.slice(0, lead).flatMap((turn) =>
    turn.role !== 'system'
      ? []
      : turn.content.flatMap((part) => {
          const text = writeText(part)
          return text.length > 0 ? [...text, ...writeMark(part.cache, target)] : []
        }),
  )
  const messages = merge(turns.slice(lead).map((turn) => writeTurn(turn, state)))
  if (messages[0]?.role !== 'user') {
    target.warnings.changed('turns', 'added')
    messages.unshift({ role: 'user', content: [{ text: GO_ON }] })
  }
  for (const { role, content } of messages) {
    if (role === 'user' && !content.some(isAddressed) && content.some((block) => 'document' in block))
      content.push({ text: '(see the document)' })
  }
  return { system, messages: withoutTrailingBlanks(messages) }
}

function writeTurn(turn: Turn, state: WriteState): WireMessage {
  switch (turn.role) {
    case 'system': // `prepareRequest` leaves none behind the first turn
      return { role: 'user', content: turn.content.flatMap(writeText) }
    case 'user':
      return { role: 'user', content: turn.content.flatMap((part) => writePart(part, state)) }
    case 'assistant':
      return { role: 'assistant', content: turn.content.flatMap((part) => writeAssistant(part, state)) }
    case 'tool':
      return { role: 'user', content: turn.results.flatMap((result) => writeResult(result, state)) }
  }
}

function merge(messages: readonly WireMessage[]): WireMessage[] {
  const merged: WireMessage[] = []
  for (const message of messages) {
    const last = merged.at(-1)
    if (message.content.length === 0) continue
    if (last?.role === message.role) last.content.push(...message.content)
    else merged.push(message)
  }
  return merged
}

/** A document alone is refused; results of tools say enough. */
const isAddressed = (block: WireBlock) => 'text' in block || 'toolResult' in block

/** The beginning of an answer, which the model is to continue, must not end in blanks. */
function withoutTrailingBlanks(messages: WireMessage[]): WireMessage[] {
  const last = messages.at(-1)
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined
  if (block && 'text' in block) block.text = block.text.trimEnd()
  return messages
}
