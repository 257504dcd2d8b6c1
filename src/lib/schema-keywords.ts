/** Keywords of JSON Schema that `matchesSchema` ignores. */
export const UNCHECKED: ReadonlySet<string> = new Set(['pattern', 'patternProperties', 'format', 'uniqueItems'])
/** Keywords that contain schemas by name. */
export const NAMED: ReadonlySet<string> = new Set([
  'properties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])
/** Keywords whose value is data instead of a schema. */
export const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])

/** Finds a keyword in a schema that `matchesSchema` ignores. */
export function findIgnoredKeyword(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  for (const [name, inner] of Object.entries(schema)) {
    if (UNCHECKED.has(name) && !Array.isArray(schema)) return name
    if (VALUES.has(name)) continue
    const schemas: unknown[] = NAMED.has(name) ? Object.values(Object(inner)) : [inner]
    const found = schemas.map(findIgnoredKeyword).find((keyword) => keyword !== undefined)
    if (found !== undefined) return found
  }
  return undefined
}
