import { isObject, type JsonObject } from '../../lib/json.ts'

/** The schema that a reference within `root` leads to, `#` or `#/$defs/name` (a JSON pointer); `undefined` when there is none. */
export function schemaAt(root: JsonObject, ref: string): JsonObject | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let found: unknown = root
  for (const segment of ref.slice(2).split('/')) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  return isObject(found) ? found : undefined
}
