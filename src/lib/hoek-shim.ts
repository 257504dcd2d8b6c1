/**
 * Stands in for `@hapi/hoek` in the build. `@hapi/boom` calls these three functions of it; the package itself needs
 * Node's byte type at import and would not load in a browser or a worker.
 */

/** Throws the given error, or one made of the given parts, unless the condition holds. */
export function assert(condition: unknown, ...parts: unknown[]): asserts condition {
  if (condition) return
  const [first] = parts
  if (parts.length === 1 && first instanceof Error) throw first
  throw new Error(
    parts
      .filter((part) => part !== '')
      .map(asText)
      .join(' ') || 'Unknown error',
  )
}

/** Copies an error with its own properties, one level deep; any other value is returned itself. */
export function clone<Value>(value: Value): Value {
  if (!(value instanceof Error)) return value
  const stack = { value: value.stack, writable: true, configurable: true } // V8's getter for `stack` works only on the original error
  return Object.create(Object.getPrototypeOf(value), { ...Object.getOwnPropertyDescriptors(value), stack })
}

/** Escapes a value for a quoted header attribute; throws when it contains a character that headers must not have. */
export function escapeHeaderAttribute(attribute: string): string {
  assert(/^[ -~]*$/.test(attribute), `Bad attribute value (${attribute})`)
  return attribute.replace(/["\\]/g, '\\$&')
}

function asText(part: unknown): string {
  if (part instanceof Error) return part.message
  return typeof part === 'string' ? part : (JSON.stringify(part) ?? String(part))
}
