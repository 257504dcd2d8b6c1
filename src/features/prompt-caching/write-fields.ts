import type { JsonObject } from '../../lib/json.ts'
import { insertFirstMember, removeMember } from '../../lib/json-edit.ts'
import { scanTopLevel } from '../../lib/json-scan.ts'
import type { EditedFields } from './cache-breakpoints.ts'

/** Sets fields in a body. Existing fields keep their positions; new ones come last. */
export function mergeFields(body: JsonObject, fields: EditedFields): JsonObject {
  const merged: JsonObject = { ...body, ...fields }
  for (const [name, value] of Object.entries(fields)) if (value === undefined) delete merged[name]
  return merged
}

/** Sets fields in JSON text. Existing fields keep their positions; new ones come first. All other characters stay the same. */
export function writeFields(text: string, fields: EditedFields): string {
  const names = Object.keys(fields)
  const remainingNames = new Set(names)
  let output = ''
  let position = 0
  for (const { start, end } of scanTopLevel(text, names).spans) {
    const nameEnd = text.lastIndexOf('"', start - 1)
    const name: string = JSON.parse(text.slice(text.lastIndexOf('"', nameEnd - 1), nameEnd + 1)) // field names contain no quotes
    remainingNames.delete(name)
    if (fields[name] === undefined) continue
    output += text.slice(position, start) + JSON.stringify(fields[name])
    position = end
  }
  const updatedBody = [...remainingNames].reduce(
    (body, name) =>
      fields[name] === undefined ? body : insertFirstMember(body, `"${name}":${JSON.stringify(fields[name])}`),
    output + text.slice(position),
  )
  return names.reduce((body, name) => (fields[name] === undefined ? removeMember(body, name) : body), updatedBody)
}
