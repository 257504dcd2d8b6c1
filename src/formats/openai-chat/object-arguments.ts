import { isObject, type JsonObject } from '../../lib/json.ts'
import { exactObject } from '../canonical/exact-json.ts'

/** The chunk with all digits of its calls' arguments: as text they have them, but some vendors give them as an object. */
export const withExactArguments = (data: string, chunk: JsonObject): JsonObject =>
  Array.isArray(chunk.choices) && chunk.choices.some(hasObject) ? exactObject(data, chunk) : chunk

function hasObject(choice: unknown): boolean {
  const delta = isObject(choice) ? (choice.delta ?? choice.message) : undefined
  const calls = isObject(delta) ? delta.tool_calls : undefined
  return (
    Array.isArray(calls) &&
    calls.some((call) => isObject(call) && isObject(call.function) && isObject(call.function.arguments))
  )
}
