import { elementFields, type Fields } from './canonical/fields.ts'
import type { TextPart, UserPart } from './canonical/parts.ts'
import type { FieldNames, Warnings } from './canonical/warnings.ts'

/** Content as both of OpenAI's formats have it: a string, or an array of parts that `parsePart` understands. An empty text is no part. */
export interface ContentForm {
  parsePart(fields: Fields, warnings: Warnings): UserPart | undefined
  /** May a part be a bare string, too? */
  takesStrings: boolean
  /** What the format calls the fields of parts. */
  names: FieldNames
}

/** The content in the member `name`. Throws `INVALID_REQUEST` naming what is neither a string nor a part. */
export function parseContent(item: Fields, name: string, warnings: Warnings, form: ContentForm): UserPart[] {
  const content = item.any(name)
  if (content === undefined || content === '') return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const path = item.path(name)
  if (!Array.isArray(content)) return warnings.refuse(path, 'must be a string or an array of parts.')
  return content.flatMap((entry: unknown, index): UserPart[] => {
    if (form.takesStrings && typeof entry === 'string') return entry === '' ? [] : [{ type: 'text', text: entry }]
    const fields = elementFields(entry, `${path}[${index}]`, warnings)
    const part = form.parsePart(fields, warnings)
    fields.drop()
    if (!part) return []
    warnings.place(part, fields.at, form.names)
    return [part]
  })
}

/** The same where only text has a meaning (instructions). */
export function parseTexts(item: Fields, name: string, warnings: Warnings, form: ContentForm): TextPart[] {
  return parseContent(item, name, warnings, form).map((part) =>
    part.type === 'text' ? part : warnings.refuse(item.path(name), `a part of type ${part.type} has no place here.`),
  )
}
