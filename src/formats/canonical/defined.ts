type Given<T> = { [K in keyof T]: T[K] | undefined }

/** The object without the fields that are undefined, so that absent means absent. */
export function defined<T extends object>(fields: Given<T>): T {
  const object: Partial<T> = {}
  for (const name in fields) if (fields[name] !== undefined) object[name] = fields[name]
  return object as T // the caller's T has those fields as optional
}
