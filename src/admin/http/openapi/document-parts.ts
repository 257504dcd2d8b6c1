import type { GenericSchema } from 'valibot'
import type { JsonObject } from '../../../lib/json.ts'
import { statusWords } from './operation-words.ts'

/** Operations by path and method in lower case. */
export type Paths = Record<string, Record<string, JsonObject>>

/** The path of a route, `/api/keys/:id`, as a template: `/api/keys/{id}`. */
export const toTemplate = (path: string): string => path.replace(/:(\w+)\+?/g, '{$1}')

/** The parameters in the path of a route. */
export const pathParameters = (path: string): JsonObject[] =>
  Array.from(path.matchAll(/:(\w+)(\+?)/g), ([, name = '', rest]) =>
    parameter('path', name, rest ? 'Can contain slashes, percent-encoded or not.' : undefined),
  )

/** A parameter of a request; `schema`: default text. One in the path is required. */
export const parameter = (
  where: 'path' | 'query' | 'header',
  name: string,
  description?: string,
  schema: JsonObject = { type: 'string' },
): JsonObject => ({
  name,
  in: where,
  ...(where === 'path' && { required: true }),
  ...(description !== undefined && { description }),
  schema,
})

/** The content of a body of JSON. */
export const jsonContent = (schema: JsonObject): JsonObject => ({ 'application/json': { schema } })

/** Functions that create parts of the document. */
export interface Builder {
  /** The JSON Schema of a schema, or a reference to it. */
  convert(schema: GenericSchema): JsonObject
  /** The JSON Schema of a type in the syntax of TypeScript. */
  describeType(text: string): JsonObject
  /** The JSON Schema of the result of one of the gateway's operations, such as `keys.list`. */
  describeResult(operation: string): JsonObject
  /** The responses for errors with these statuses, whose bodies share a schema. `name`: the error's name. */
  errors(statuses: readonly number[], name: string, schema: JsonObject): JsonObject
}

/** `responses` collects the responses, which operations reference by name. */
export function createBuilder(schemas: Omit<Builder, 'errors'>, responses: Record<string, JsonObject>): Builder {
  return {
    ...schemas,
    errors: (statuses, name, schema) =>
      Object.fromEntries(
        statuses.map((status) => {
          responses[`${name}${status}`] = { description: statusWords[status], content: jsonContent(schema) }
          return [status, { $ref: `#/components/responses/${name}${status}` }]
        }),
      ),
  }
}

/** The name with a capital first letter. */
export const capitalize = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1)

/** The id of an operation, such as `keysList`. */
export const joinNames = (names: readonly string[]): string => names.reduce((id, name) => id + capitalize(name))

/** A schema for values that match one of these schemas, without duplicates. */
export function anyOf(schemas: readonly JsonObject[]): JsonObject {
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
  return distinct.length === 1 && distinct[0] ? distinct[0] : { anyOf: distinct }
}
