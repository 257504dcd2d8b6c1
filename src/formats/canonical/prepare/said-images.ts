import type { AssistantPart, ImagePart, UserPart } from '../parts.ts'
import type { AssistantTurn, Turn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'

/**
 * Pictures that the model has made, for a target whose own turns hold none: a user shows them, with the next words of one, or behind the
 * results of the calls in that turn. There they are a user's picture in everything, and refused where these are.
 */
export function showSaidImages(turns: readonly Turn[], warnings: Warnings): Turn[] {
  const all: Turn[] = []
  let shown: UserPart[] = []

  function show() {
    if (shown.length > 0) all.push({ role: 'user', content: shown })
    shown = []
  }

  for (const turn of turns) {
    if (turn.role === 'user') {
      all.push(shown.length > 0 ? { ...turn, content: [...shown, ...turn.content] } : turn)
      shown = []
      continue
    }
    if (turn.role !== 'tool') show()
    const images = turn.role === 'assistant' ? turn.content.filter(isImage) : []
    if (turn.role !== 'assistant' || images.length === 0) {
      all.push(turn)
      continue
    }
    for (const image of images) warnings.changed(warnings.pathOf(image, 'turns'), 'moved')
    all.push(withoutImages(turn))
    shown = [{ type: 'text', text: 'From your answer before:' }, ...images.map(withoutState)]
  }
  show()
  return all
}

const isImage = (part: AssistantPart): part is ImagePart => part.type === 'image'

/** A turn of the model that was nothing but pictures says so, since users and models take turns. */
function withoutImages(turn: AssistantTurn): AssistantTurn {
  const rest = turn.content.filter((part) => !isImage(part))
  const isSaying = rest.some((part) => part.type !== 'reasoning' && (part.type !== 'text' || part.text.trim() !== ''))
  return { ...turn, content: isSaying ? rest : [...rest, { type: 'text', text: '[image: see the next message]' }] }
}

function withoutState(image: ImagePart): ImagePart {
  const { state: _, ...rest } = image
  return rest
}
