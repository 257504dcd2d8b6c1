import type { JsonObject } from '../lib/json.ts'

/**
 * The schema of a function's input as OpenAI takes it: one of an object, whose properties are there even if there are none. Others send, and
 * many tools have, `{ type: 'object' }` or `{}`, for which the whole request is refused.
 */
export function inputSchema(schema: JsonObject = {}): JsonObject {
  const { type = 'object', properties } = schema
  const isComplete = type === schema.type && properties !== undefined
  if (isComplete || type !== 'object' || ALTERNATIVES.some((keyword) => schema[keyword] !== undefined)) return schema
  return { ...schema, type, properties: properties ?? {} }
}

/** With these it may be of any type. */
const ALTERNATIVES = ['$ref', 'anyOf', 'oneOf', 'allOf']
