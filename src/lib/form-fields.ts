/** Splits a form field's name, such as `a[b]`. */
export function readFieldName(field: string): { name: string; inner: string | undefined; isArrayItem: boolean } {
  const [, name = field, inner] = /^([^[]+)\[([^[\]]*)\]$/.exec(field) ?? []
  const isArrayItem = inner === '' || /^\d+$/.test(inner ?? '')
  return { name, inner: isArrayItem ? undefined : inner, isArrayItem }
}

/** Returns the name of a field of which a form has several values that don't become a list, such as `a[b]` twice, or `a` and `a[b]`. */
export function findFieldConflict(form: ReadonlyArray<{ readonly name: string }>): string | undefined {
  const seen = new Map<string, Set<string | undefined>>()
  for (const part of form) {
    const { name, inner } = readFieldName(part.name)
    const known = seen.get(name)
    if (!known) seen.set(name, new Set([inner]))
    else if (known.has(undefined) !== (inner === undefined) || (inner !== undefined && known.has(inner)))
      return part.name
    else known.add(inner)
  }
  return undefined
}
