/** Splits the name of a form field, such as `a[b]`. */
export function readFieldName(field: string): { name: string; inner: string | undefined; isArrayItem: boolean } {
  const [, name = field, inner] = /^([^[]+)\[([^[\]]*)\]$/.exec(field) ?? []
  const isArrayItem = inner === '' || /^\d+$/.test(inner ?? '')
  return { name, inner: isArrayItem ? undefined : inner, isArrayItem }
}

/** Returns the name of a field with several form values that don't form a list, such as `a[b]` twice, or `a` and `a[b]`. */
export function findFieldConflict(form: ReadonlyArray<{ readonly name: string }>): string | undefined {
  const seen = new Map<string, Set<string | undefined>>()
  for (const part of form) {
    const { name, inner } = readFieldName(part.name)
    const existing = seen.get(name)
    if (!existing) seen.set(name, new Set([inner]))
    else if (existing.has(undefined) !== (inner === undefined) || (inner !== undefined && existing.has(inner)))
      return part.name
    else existing.add(inner)
  }
  return undefined
}
