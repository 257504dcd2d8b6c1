import type { AssistantPart } from './parts.ts'

/** The parts, with a blank line between the texts in `told`, which were added about something else, and the model's own. */
export function setApart(parts: readonly AssistantPart[], told: ReadonlySet<AssistantPart>): AssistantPart[] {
  return parts.map((part, index) => {
    const next = parts[index + 1]
    if (part.type !== 'text' || next?.type !== 'text' || !(told.has(part) || told.has(next))) return part
    return { ...part, text: `${part.text.trimEnd()}\n\n` }
  })
}
