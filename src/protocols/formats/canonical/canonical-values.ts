type Undefinable<T> = { [K in keyof T]: T[K] | undefined }

/** Copies an object without its undefined fields, so that absent really means absent. */
export function omitUndefined<T extends object>(fields: Undefinable<T>): T {
  const object: Partial<T> = {}
  for (const name in fields) if (fields[name] !== undefined) object[name] = fields[name]
  return object as T // these fields are optional in `T`
}

/** Deletes an object's undefined fields and returns the object, which the caller must own. */
export function deleteUndefined<T extends object>(fields: T): T {
  for (const name in fields) if (fields[name] === undefined) delete fields[name]
  return fields
}

/** Returns the value if it is a string, otherwise an empty string. */
export const readStringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Returns the value if it is a nonempty string. */
export const readString = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Reads a provider's token count, capped at the largest safe integer. Returns 0 if the value isn't a positive number. */
export const readTokenCount = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.min(value, Number.MAX_SAFE_INTEGER) : 0

/** Returns whether any of the values is a count. Some providers report usage without any readable counts. */
export const hasTokenCount = (...values: readonly unknown[]): boolean =>
  values.some((value) => typeof value === 'number' && value >= 0)
