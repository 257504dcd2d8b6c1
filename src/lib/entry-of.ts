/** The own entry of a table; not `constructor` and the like, which every object inherits. For names that come from outside. */
export const entryOf = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
