import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { OpenApiDocument } from '../../src/admin/openapi-document.ts'

/** An operation in a description, with its references resolved. */
export interface Described {
  method: string
  path: string
  operationId: string
  statuses: string[]
  /** The schema of the request body, or `undefined` if the operation takes none. */
  readonly request: ValidateFunction | undefined
  /** Returns the schema of the JSON response body for this status. Throws if there is none. */
  response(status: number): ValidateFunction
}

/** Returns the operations in a description. Their schemas are compiled on first use. */
export function describedOperations(document: OpenApiDocument): Described[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema(document, 'description')
  const compiled = new Map<string, ValidateFunction>()
  function compile(schema: unknown): ValidateFunction {
    const text = JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"description#')
    const known = compiled.get(text) ?? ajv.compile(JSON.parse(text))
    compiled.set(text, known)
    return known
  }
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Described => {
      const { operationId, requestBody, responses } = operation as unknown as RawOperation
      const schema = requestBody?.content['application/json']?.schema
      return {
        method: method.toUpperCase(),
        path,
        operationId,
        statuses: Object.keys(responses),
        get request() {
          return schema && compile(schema)
        },
        response(status) {
          const found = responses[status] ?? responses.default
          const { content } = found && '$ref' in found ? resolveReference(document, found.$ref) : (found ?? {})
          const body = content?.['application/json']?.schema
          if (!body) throw new Error(`${operationId} has no JSON body for the status ${status}.`)
          return compile(body)
        },
      }
    }),
  )
}

/** Returns the document with schemas that reject unknown fields. */
export const closeObjects = (document: OpenApiDocument): OpenApiDocument =>
  JSON.parse(JSON.stringify(document), (_, value) => {
    const isObject = value?.type === 'object' && value.properties && value.additionalProperties === undefined
    return isObject ? { ...value, additionalProperties: false } : value
  })

/** Creates a check for a named schema in a description. */
export const createCheck = (document: OpenApiDocument, name: string): ValidateFunction =>
  new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
    .addSchema(document, 'description')
    .compile({ $ref: `description#/components/schemas/${name}` })

type Content = Record<string, { schema: object }>

interface RawOperation {
  operationId: string
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content } | { $ref: string }>
}

/** Returns a component of a description. */
function resolveReference(document: OpenApiDocument, ref: string): { content?: Content } {
  const [, , kind = '', name = ''] = ref.split('/')
  const found = document.components[kind]?.[name]
  if (!found) throw new Error(`There is no ${ref}.`)
  return found
}
