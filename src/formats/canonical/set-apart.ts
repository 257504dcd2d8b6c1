import type { AssistantPart } from './parts.ts'

/** The parts, with a blank line between those in `told`, which are words about something, and what the model itself has said before and behind. */
export function setApart(parts: readonly AssistantPart[], told: ReadonlySet<AssistantPart>): AssistantPart[] {
  return parts.map((part, index) => {
    const next = parts[index + 1]
    if (part.type !== 'text' || next?.type !== 'text' || !(told.has(part) || told.has(next))) return part
    return { ...part, text: `${part.text.trimEnd()}\n\n` }
  })
}
