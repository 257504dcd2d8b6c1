import { decodeUtf8Lenient } from './bytes.ts'
import { replaceSpans, scanTopLevel } from './json-scan.ts'

/**
 * Sets a JSON object's field: in place, or first if the object lacks it. Leaves every other character unchanged. `valueFor` receives the current
 * value's JSON, if any.
 */
export function withMember(text: string, name: string, valueFor: (current?: string) => string): string {
  const { spans } = scanTopLevel(text, [name])
  if (spans.length > 0)
    return spans.reduceRight(
      (set, { start, end }) => set.slice(0, start) + valueFor(text.slice(start, end)) + set.slice(end),
      text,
    )
  return insertFirstMember(text, `${JSON.stringify(name)}:${valueFor()}`)
}

/** Adds a missing field at the start of a JSON object. All other text is unchanged. */
export function insertFirstMember(text: string, member: string): string {
  const open = text.indexOf('{') + 1
  const rest = text.slice(open)
  return `${text.slice(0, open)}${member}${/^\s*\}/.test(rest) ? '' : ','}${rest}`
}

/** Removes a field from a JSON object. Leaves every other character unchanged. */
export function withoutMember(text: string, name: string): string {
  const { spans } = scanTopLevel(text, [name])
  return spans.reduceRight((rest, { start, end }) => {
    const nameEnd = rest.lastIndexOf('"', start - 1)
    const from = rest.lastIndexOf('"', nameEnd - 1)
    const preceding = rest.slice(0, from).trimEnd()
    const after = rest.slice(end).trimStart()
    if (after.startsWith(',')) return rest.slice(0, from) + after.slice(1).trimStart()
    return (preceding.endsWith(',') ? preceding.slice(0, -1).trimEnd() : rest.slice(0, from)) + rest.slice(end)
  }, text)
}

/** Replaces the model in a JSON body. Leaves every other character unchanged. */
export function withModel(body: string | Uint8Array, model: string): string {
  const text = typeof body === 'string' ? body : decodeUtf8Lenient(body)
  return replaceSpans(text, scanTopLevel(text, ['model']).spans, JSON.stringify(model))
}

/** Removes fields from a JSON body's outermost object, and adds others first. Leaves every other character unchanged. */
export function withMembers(
  body: string | Uint8Array,
  { without, added }: { without: readonly string[]; added: Readonly<Record<string, unknown>> },
): string {
  const text = typeof body === 'string' ? body : decodeUtf8Lenient(body)
  const open = text.indexOf('{') + 1
  let output = ''
  let position = open
  for (const { start, end } of scanTopLevel(text, without).spans) {
    const closing = text.lastIndexOf('"', start - 1)
    output += text.slice(position, text.lastIndexOf('"', closing - 1)) // field names contain no quotes
    const comma = /\s*,\s*/y
    comma.lastIndex = end
    position = comma.test(text) ? comma.lastIndex : end
    if (position === end) output = output.trimEnd().replace(/,$/, '') // the removed field was the last field
  }
  output += text.slice(position)
  const members = JSON.stringify(added).slice(1, -1)
  const isOnlyMember = members === '' || /^\s*\}/.test(output)
  return `${text.slice(0, open)}${members}${isOnlyMember ? '' : ','}${output}`
}
