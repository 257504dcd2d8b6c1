/** JSON Schema keywords that `matchesSchema` ignores. */
export const UNCHECKED_KEYWORDS: ReadonlySet<string> = new Set([
  'pattern',
  'patternProperties',
  'format',
  'uniqueItems',
])
/** Keywords whose value maps names to schemas. */
export const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  'properties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])
/** Keywords whose value is data instead of a schema. */
export const VALUE_KEYWORDS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])

/** Finds a keyword in a schema that `matchesSchema` ignores. */
export function findIgnoredKeyword(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  for (const [name, inner] of Object.entries(schema)) {
    if (UNCHECKED_KEYWORDS.has(name) && !Array.isArray(schema)) return name
    if (VALUE_KEYWORDS.has(name)) continue
    const subschemas: unknown[] = NAMED_SCHEMAS.has(name) ? Object.values(Object(inner)) : [inner]
    const ignoredKeyword = subschemas.map(findIgnoredKeyword).find((keyword) => keyword !== undefined)
    if (ignoredKeyword !== undefined) return ignoredKeyword
  }
  return undefined
}
