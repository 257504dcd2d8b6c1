/* Replaces `@hapi/hoek` in the build. `@hapi/boom` calls these two functions; the package itself needs Node's `Buffer` when imported. */

/** Throws the given error, or an error made from the given parts, unless the condition is true. */
export function assert(condition: unknown, ...parts: unknown[]): asserts condition {
  if (condition) return
  const [first] = parts
  if (parts.length === 1 && first instanceof Error) throw first
  throw new Error(
    parts
      .filter((part) => part !== '')
      .map(formatPart)
      .join(' ') || 'Unknown error',
  )
}

/** Copies an error with its own properties. Returns any other value unchanged. */
export function clone<Value>(value: Value): Value {
  if (!(value instanceof Error)) return value
  const stack = { value: value.stack, writable: true, configurable: true } // V8's getter for `stack` only works on the original error
  return Object.create(Object.getPrototypeOf(value), { ...Object.getOwnPropertyDescriptors(value), stack })
}

function formatPart(part: unknown): string {
  if (part instanceof Error) return part.message
  return typeof part === 'string' ? part : (JSON.stringify(part) ?? String(part))
}
