import { requestArguments } from '../canonical/arguments.ts'
import type { AssistantPart, ReasoningPart, TextPart } from '../canonical/parts.ts'
import type { TargetContext } from '../translator.ts'
import { wireCitationParam } from './citations.ts'
import { wireMark } from './marks.ts'
import { isBlank } from './parts-write.ts'
import type { WireAssistantBlock } from './wire-request.ts'

/** What the model said before, for a provider. What it cannot be told that it said is left out. */
export function writeAssistant(part: AssistantPart, target: TargetContext): WireAssistantBlock[] {
  const { warnings } = target
  switch (part.type) {
    case 'text':
      return writeText(part, target)
    case 'refusal':
      return writeText({ type: 'text', text: part.text }, target)
    case 'reasoning':
      return writeThought(part)
    case 'tool-call': {
      const { id, name, cache, isFreeForm } = part
      const input = isFreeForm ? { input: part.arguments } : requestArguments(part, warnings)
      return [{ type: 'tool_use', id, name, input, ...wireMark(cache, target) }]
    }
    case 'server-tool': // a record of it would need the key that only its own answer had; it comes as text
      return []
    case 'audio':
      if (part.transcript === undefined) warnings.dropped(warnings.pathOf(part, 'audio'))
      return writeText({ type: 'text', text: part.transcript ?? '' }, target)
    case 'image': // a user has shown it already
      return []
    case 'compaction': // `prepareRequest` has refused it
      return []
  }
}

function writeText({ text, cache, citations }: TextPart, target: TargetContext): WireAssistantBlock[] {
  if (isBlank(text)) return []
  const cited = citations?.flatMap((citation) => wireCitationParam(citation) ?? []) ?? []
  return [{ type: 'text', text, ...(cited.length > 0 && { citations: cited }), ...wireMark(cache, target) }]
}

/** Only what Anthropic signed can be told to it as its thoughts. */
function writeThought({ text, state }: ReasoningPart): WireAssistantBlock[] {
  if (state?.kind === 'signature') return [{ type: 'thinking', thinking: text, signature: state.data }]
  return state?.kind === 'redacted' ? [{ type: 'redacted_thinking', data: state.data }] : []
}
