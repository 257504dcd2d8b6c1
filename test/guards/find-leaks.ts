import { isObject, tryParseJson } from '../../src/lib/json.ts'
import { createSseParser } from '../../src/lib/sse.ts'

/**
 * Returns the fields of a response that contain a text, ignoring case: in the raw bytes, in a single string, or in the concatenated strings that a
 * stream's events append to a field.
 */
export function findLeaks(response: string, text: string): string[] {
  const fields = new Map<string, string>()
  const add = (path: string, value: string) => fields.set(path, (fields.get(path) ?? '') + value)
  const visit = (value: unknown, path: string) => {
    if (typeof value === 'string') {
      add(path, value)
      add(`any ${path.slice(path.lastIndexOf('.'))}`, value)
    } else if (Array.isArray(value))
      for (const [index, inner] of value.entries())
        visit(inner, `${path}[${isObject(inner) && typeof inner.index === 'number' ? inner.index : index}]`)
    else if (isObject(value))
      for (const [name, inner] of Object.entries(value)) {
        add(`${path}, names`, ` ${name} `)
        visit(inner, `${path}.${name}`)
      }
  }
  const full = tryParseJson(response)
  if (full !== undefined) visit(full, '')
  else {
    const parser = createSseParser(({ data }) => {
      const json = tryParseJson(data)
      visit(json ?? data, isObject(json) && typeof json.type === 'string' ? json.type : '')
    })
    parser.push(response)
    parser.end()
  }
  fields.set('the bytes', response)
  const pattern = text.toLowerCase()
  return [...fields].flatMap(([path, value]) => (value.toLowerCase().includes(pattern) ? [path] : []))
}
