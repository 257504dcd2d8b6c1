/** Splits the name of a form field, such as `a[b]`. */
export function parseFieldName(field: string): { name: string; nestedName: string | undefined; isArrayItem: boolean } {
  const [, name = field, inner] = /^([^[]+)\[([^[\]]*)\]$/.exec(field) ?? []
  const isArrayItem = inner === '' || /^\d+$/.test(inner ?? '')
  return { name, nestedName: isArrayItem ? undefined : inner, isArrayItem }
}

/** Returns the name of a field with several form values that don't form a list, such as `a[b]` twice, or `a` and `a[b]`. */
export function findFieldConflict(form: ReadonlyArray<{ readonly name: string }>): string | undefined {
  const nestedNames = new Map<string, Set<string | undefined>>()
  for (const field of form) {
    const { name, nestedName } = parseFieldName(field.name)
    const existingNames = nestedNames.get(name)
    if (!existingNames) nestedNames.set(name, new Set([nestedName]))
    else if (
      existingNames.has(undefined) !== (nestedName === undefined) ||
      (nestedName !== undefined && existingNames.has(nestedName))
    )
      return field.name
    else existingNames.add(nestedName)
  }
  return undefined
}
