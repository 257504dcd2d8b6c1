/** What a table has under a name that others have chosen: `constructor` and the like, which every object has, are in none. */
export const entryOf = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
