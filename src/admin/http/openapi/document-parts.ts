import type { GenericSchema } from 'valibot'
import type { JsonObject } from '../../../lib/json.ts'
import { statusDescriptions } from './operation-words.ts'

/** Operations by path and lowercase method. */
export type Paths = Record<string, Record<string, JsonObject>>

/** Converts a route's path, such as `/api/keys/:id`, to a template: `/api/keys/{id}`. */
export const toTemplate = (path: string): string => path.replace(/:(\w+)\+?/g, '{$1}')

/** Returns the parameters in a route's path. */
export const listPathParameters = (path: string): JsonObject[] =>
  Array.from(path.matchAll(/:(\w+)(\+?)/g), ([, name = '', rest]) =>
    createParameter('path', name, rest ? 'Can contain slashes, percent-encoded or not.' : undefined),
  )

/** Creates a request parameter; `schema` defaults to a string. Path parameters are required. */
export const createParameter = (
  location: 'path' | 'query' | 'header',
  name: string,
  description?: string,
  schema: JsonObject = { type: 'string' },
): JsonObject => ({
  name,
  in: location,
  ...(location === 'path' && { required: true }),
  ...(description !== undefined && { description }),
  schema,
})

/** Returns the content of a JSON body. */
export const createJsonContent = (schema: JsonObject): JsonObject => ({ 'application/json': { schema } })

/** Functions that create parts of the document. */
export interface DocumentBuilder {
  /** Returns the JSON Schema for a valibot schema, or a reference to it. */
  convertSchema(schema: GenericSchema): JsonObject
  /** Returns the JSON Schema for a type in TypeScript syntax. */
  describeType(text: string): JsonObject
  /** Returns the JSON Schema for the result of a gateway operation, such as `keys.list`. */
  describeResult(operation: string): JsonObject
  /** Returns the responses for errors with these statuses, whose bodies share a schema. `name` is the error's name. */
  describeErrors(statuses: readonly number[], name: string, schema: JsonObject): JsonObject
}

/** Creates a builder. Adds its responses to `responses`; operations reference them by name. */
export function createBuilder(
  schemas: Omit<DocumentBuilder, 'describeErrors'>,
  responses: Record<string, JsonObject>,
): DocumentBuilder {
  return {
    ...schemas,
    describeErrors: (statuses, name, schema) =>
      Object.fromEntries(
        statuses.map((status) => {
          responses[`${name}${status}`] = {
            description: statusDescriptions[status],
            content: createJsonContent(schema),
          }
          return [status, { $ref: `#/components/responses/${name}${status}` }]
        }),
      ),
  }
}

export const capitalize = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1)

/** Joins names into an operation ID, such as `keysList`. */
export const joinNames = (names: readonly string[]): string => names.reduce((id, name) => id + capitalize(name))

/** Returns a schema for values that match one of these schemas, without duplicates. */
export function anyOf(schemas: readonly JsonObject[]): JsonObject {
  const distinctSchemas = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
  return distinctSchemas.length === 1 && distinctSchemas[0] ? distinctSchemas[0] : { anyOf: distinctSchemas }
}
