import { decodeUtf8Lenient } from './bytes.ts'
import { replaceSpans, scanTopLevel } from './json-scan.ts'

/**
 * Sets a JSON object's field: in place, or first if the object lacks it. Leaves every other character unchanged. `createValue` receives the current
 * value's JSON, if any.
 */
export function setMember(text: string, name: string, createValue: (current?: string) => string): string {
  const { spans } = scanTopLevel(text, [name])
  if (spans.length > 0)
    return spans.reduceRight(
      (editedText, { start, end }) =>
        editedText.slice(0, start) + createValue(text.slice(start, end)) + editedText.slice(end),
      text,
    )
  return insertFirstMember(text, `${JSON.stringify(name)}:${createValue()}`)
}

/** Adds a missing field at the start of a JSON object. All other text is unchanged. */
export function insertFirstMember(text: string, member: string): string {
  const contentStart = text.indexOf('{') + 1
  const content = text.slice(contentStart)
  return `${text.slice(0, contentStart)}${member}${/^\s*\}/.test(content) ? '' : ','}${content}`
}

/** Removes a field from a JSON object. Leaves every other character unchanged. */
export function removeMember(text: string, name: string): string {
  const { spans } = scanTopLevel(text, [name])
  return spans.reduceRight((remainingText, { start, end }) => {
    const nameEnd = remainingText.lastIndexOf('"', start - 1)
    const nameStart = remainingText.lastIndexOf('"', nameEnd - 1)
    const precedingText = remainingText.slice(0, nameStart).trimEnd()
    const followingText = remainingText.slice(end).trimStart()
    if (followingText.startsWith(',')) return remainingText.slice(0, nameStart) + followingText.slice(1).trimStart()
    return (
      (precedingText.endsWith(',') ? precedingText.slice(0, -1).trimEnd() : remainingText.slice(0, nameStart)) +
      remainingText.slice(end)
    )
  }, text)
}

/** Replaces the model in a JSON body. Leaves every other character unchanged. */
export function replaceModel(body: string | Uint8Array, model: string): string {
  const text = typeof body === 'string' ? body : decodeUtf8Lenient(body)
  return replaceSpans(text, scanTopLevel(text, ['model']).spans, JSON.stringify(model))
}

/** Removes fields from a JSON body's outermost object, and adds others first. Leaves every other character unchanged. */
export function replaceMembers(
  body: string | Uint8Array,
  removedNames: readonly string[],
  addedMembers: Readonly<Record<string, unknown>>,
): string {
  const text = typeof body === 'string' ? body : decodeUtf8Lenient(body)
  const contentStart = text.indexOf('{') + 1
  let content = ''
  let position = contentStart
  for (const { start, end } of scanTopLevel(text, removedNames).spans) {
    const nameEnd = text.lastIndexOf('"', start - 1)
    content += text.slice(position, text.lastIndexOf('"', nameEnd - 1)) // field names contain no quotes
    const comma = /\s*,\s*/y
    comma.lastIndex = end
    position = comma.test(text) ? comma.lastIndex : end
    if (position === end) content = content.trimEnd().replace(/,$/, '') // the removed field was the last field
  }
  content += text.slice(position)
  const addedText = JSON.stringify(addedMembers).slice(1, -1)
  const needsNoComma = addedText === '' || /^\s*\}/.test(content)
  return `${text.slice(0, contentStart)}${addedText}${needsNoComma ? '' : ','}${content}`
}
