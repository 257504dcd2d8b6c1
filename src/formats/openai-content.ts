import { elementFields, type Fields } from './canonical/fields.ts'
import type { TextPart, UserPart } from './canonical/parts.ts'
import type { FieldNames, Warnings } from './canonical/warnings.ts'

/** Content in both formats of OpenAI: a string, or an array of parts that `parsePart` reads. An empty text is no part. */
export interface ContentForm {
  parsePart(fields: Fields, warnings: Warnings): UserPart | undefined
  /** May a part also be a string? */
  takesStrings: boolean
  /** The format's names for the fields of parts. */
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

/** The same for instructions, where only text is allowed. */
export function parseTexts(item: Fields, name: string, warnings: Warnings, form: ContentForm): TextPart[] {
  return parseContent(item, name, warnings, form).map((part) =>
    part.type === 'text' ? part : warnings.refuse(item.path(name), `a part of type ${part.type} has no place here.`),
  )
}
