import type { GuardPart } from './guard.ts'
import type { ReadPart } from './read-parts.ts'

/** Joins the parts of each list with two or more strings, because a model reads them as continuous text. */
export function joinLists(parts: readonly ReadPart[]): Array<{ part: GuardPart; sourceParts: readonly ReadPart[] }> {
  const firstParts: Array<ReadPart | undefined> = []
  const lists = new Map<number, ReadPart[]>()
  for (const part of parts) {
    if (part.listId === undefined) continue
    const firstPart = firstParts[part.listId]
    if (!firstPart) firstParts[part.listId] = part
    else {
      const list = lists.get(part.listId)
      if (list) list.push(part)
      else lists.set(part.listId, [firstPart, part])
    }
  }
  return [...lists.values()].flatMap((list) => {
    const [first] = list
    if (!first) return []
    const { id, role, kind, isOlder } = first
    const starts: number[] = []
    let text = ''
    for (const part of list) {
      starts.push(text.length)
      text += part.text
    }
    return [{ part: { id, role, kind, isOlder, text, starts }, sourceParts: list }]
  })
}
