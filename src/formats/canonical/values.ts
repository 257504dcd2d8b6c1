type Undefinable<T> = { [K in keyof T]: T[K] | undefined }

/** A copy without the fields that are undefined, so that absent means absent. */
export function defined<T extends object>(fields: Undefinable<T>): T {
  const object: Partial<T> = {}
  for (const name in fields) if (fields[name] !== undefined) object[name] = fields[name]
  return object as T // these fields are optional in the caller's `T`
}

/** The same object, which must be the caller's own, with its undefined fields deleted. */
export function withoutUndefined<T extends object>(fields: T): T {
  for (const name in fields) if (fields[name] === undefined) delete fields[name]
  return fields
}

/** The value, if it is a string; otherwise the empty string. */
export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The value, if it is a string that is not empty. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** A provider's token count, at most the largest safe integer; 0 if the value is not a positive number. */
export const tokenCount = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.min(value, Number.MAX_SAFE_INTEGER) : 0

/** Is one of the values a count? Some providers report usage without any that can be read. */
export const hasTokenCount = (...values: readonly unknown[]): boolean =>
  values.some((value) => typeof value === 'number' && value >= 0)
