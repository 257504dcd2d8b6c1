import { parseFieldName } from '../../lib/form-fields.ts'
import { formatScalar, isObject, type JsonObject } from '../../lib/json.ts'
import { type FormField, type FormPart, isFile } from '../../lib/multipart.ts'

/** Returns a form's parts with changed fields and file names. Files are kept, even if their field is removed. */
export function changeForm(form: readonly FormPart[], oldFields: JsonObject, newFields: JsonObject): FormPart[] {
  const fields = new Map<string, FormPart[]>()
  for (const part of form) {
    const { name } = parseFieldName(part.name)
    const parts = fields.get(name)
    if (parts) parts.push(part)
    else fields.set(name, [part])
  }
  const isUnchanged = (name: string) => !Object.hasOwn(oldFields, name) || oldFields[name] === newFields[name]
  const addedFields = Object.entries(newFields).filter(([name]) => !Object.hasOwn(oldFields, name))
  return [
    ...[...fields].flatMap(([name, parts]) => (isUnchanged(name) ? parts : changeField(parts, name, newFields[name]))),
    ...addedFields.flatMap(([name, value]) => createFields(name, value)),
  ]
}

/** Returns one field's parts with a new value. A list's new items follow its existing parts. */
function changeField(parts: readonly FormPart[], name: string, value: unknown): FormPart[] {
  const hasNestedFields = parts.some((part) => parseFieldName(part.name).nestedName !== undefined)
  if ((hasNestedFields || isObject(value)) && !parts.some(isFile)) return createFields(name, value)
  const items: unknown[] = Array.isArray(value) ? value : [value]
  const changedParts = parts.flatMap((part, index): FormPart[] => {
    const { nestedName } = parseFieldName(part.name)
    const item = nestedName === undefined ? items[index] : isObject(value) ? value[nestedName] : undefined
    if (!isFile(part)) return createField(part.name, item)
    return [isObject(item) && typeof item.fileName === 'string' ? { ...part, fileName: item.fileName } : part]
  })
  const addedParts = items
    .slice(parts.length)
    .flatMap((item, index) => createField(getItemName(parts, index + 1), item))
  return [...changedParts, ...addedParts]
}

/** Returns the name for an item that follows a list's parts: `a[2]` after `a[1]`, otherwise the last part's name. */
function getItemName(parts: readonly FormPart[], offset: number): string {
  const { name = '' } = parts.at(-1) ?? {}
  return name.replace(/\[(\d+)\]$/, (_, index) => `[${Number(index) + offset}]`)
}

/** Returns the parts for a new field, named `a[]` for a list and `a[b]` for an object. */
function createFields(name: string, value: unknown): FormField[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => createField(`${name}[]`, item))
  if (isObject(value)) return Object.entries(value).flatMap(([inner, item]) => createField(`${name}[${inner}]`, item))
  return createField(name, value)
}

/** Creates a field. Returns no part for values that a form field can't have. */
const createField = (name: string, value: unknown): FormField[] =>
  value === undefined || (typeof value === 'object' && value !== null) ? [] : [{ name, value: formatScalar(value) }]
