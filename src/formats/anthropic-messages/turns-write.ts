import { dropLabels } from '../canonical/drop-labels.ts'
import { GO_ON } from '../canonical/go-on.ts'
import type { Turn } from '../canonical/turns.ts'
import type { TargetContext } from '../translator.ts'
import { writeAssistant } from './assistant-write.ts'
import { wireCitationParam } from './citations.ts'
import { writePart, writeResult, writeText } from './parts-write.ts'
import type { WireMessageParam, WireTextParam } from './wire-request.ts'

/**
 * `system` and `messages`. The instructions before the first turn are the system's blocks, each on its own. Turns of one role that follow
 * each other are one message: results of tools first, then what the user says to them.
 */
export function writeTurns(turns: readonly Turn[], target: TargetContext) {
  const first = turns.findIndex((turn) => turn.role !== 'system')
  const lead = first === -1 ? turns.length : first
  for (const turn of turns)
    dropLabels(turn, target.warnings, { citations: (citation) => wireCitationParam(citation) !== undefined })
  const system = turns
    .slice(0, lead)
    .flatMap((turn) => (turn.role === 'system' ? writeTexts(turn.content, target) : []))
  const messages = merge(turns.slice(lead).map((turn) => writeTurn(turn, target)))
  if (messages[0]?.role !== 'user') {
    target.warnings.changed('turns', 'added')
    messages.unshift({ role: 'user', content: [{ type: 'text', text: GO_ON }] })
  }
  return { system, messages: withoutTrailingBlanks(messages) }
}

function writeTurn(turn: Turn, target: TargetContext): WireMessageParam {
  switch (turn.role) {
    case 'system':
      return { role: 'system', content: writeTexts(turn.content, target) }
    case 'user':
      return { role: 'user', content: turn.content.flatMap((part) => writePart(part, target)) }
    case 'assistant':
      return { role: 'assistant', content: turn.content.flatMap((part) => writeAssistant(part, target)) }
    case 'tool':
      return { role: 'user', content: turn.results.map((result) => writeResult(result, target)) }
  }
}

const writeTexts = (parts: Parameters<typeof writeText>[0][], target: TargetContext): WireTextParam[] =>
  parts.flatMap((part) => writeText(part, target))

function merge(messages: readonly WireMessageParam[]): WireMessageParam[] {
  const merged: WireMessageParam[] = []
  for (const message of messages) {
    const last = merged.at(-1)
    if (message.content.length === 0) continue
    if (last?.role === 'user' && message.role === 'user') last.content.push(...message.content)
    else if (last?.role === 'assistant' && message.role === 'assistant') last.content.push(...message.content)
    else merged.push(message)
  }
  return merged
}

/** The beginning of an answer, which the model is to continue, must not end in blanks. */
function withoutTrailingBlanks(messages: WireMessageParam[]): WireMessageParam[] {
  const last = messages.at(-1)
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined
  if (block?.type === 'text') block.text = block.text.trimEnd()
  return messages
}
