import type { AssistantPart, ServerToolPart, TextPart } from '../parts.ts'
import { setApart } from '../set-apart.ts'
import type { Turn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'

/** What another provider searched before, as words: its own record of it means nothing to the target. */
export function fitServerTools(turns: readonly Turn[], warnings: Warnings): Turn[] {
  return turns.map((turn): Turn => {
    if (turn.role !== 'assistant' || !turn.content.some(isServerTool)) return turn
    const told = new Set<AssistantPart>()
    const content = turn.content.map((part) => {
      if (!isServerTool(part)) return part
      warnings.changed(warnings.pathOf(part, 'turns'), 'replaced')
      const text = asText(part)
      told.add(text)
      return text
    })
    return { ...turn, content: setApart(content, told) }
  })
}

const isServerTool = (part: AssistantPart): part is ServerToolPart => part.type === 'server-tool'

function asText({ query, error, results }: ServerToolPart): TextPart {
  const found = results.map(({ title, url, text }) =>
    [`- ${title} (${url})`, ...(text ? [`  ${text}`] : [])].join('\n'),
  )
  return {
    type: 'text',
    text: [`[Searched the web for: ${query}]`, ...(error ? [`Error: ${error}`] : []), ...found].join('\n'),
  }
}
