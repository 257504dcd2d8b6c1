import type { GenericSchema } from 'valibot'
import type { JsonObject } from './json.ts'

/** Converts valibot schemas to JSON Schema 2020-12. */
export interface JsonSchemaConverter {
  /**
   * Converts a schema; strings that it trims are described as trimmed. Omits function checks, unless the schema sets keywords with `v.metadata`.
   * Throws a TypeError for an unsupported type of schema.
   */
  convert(schema: GenericSchema): JsonObject
  /** The named schemas converted so far. */
  readonly definitions: Record<string, JsonObject>
}

/** Creates a converter. Schemas in `names` are referenced as `<prefix><name>` instead of being copied. */
export function createJsonSchemaConverter(
  names: Pick<ReadonlyMap<object, string>, 'get'>,
  prefix: string,
): JsonSchemaConverter {
  const definitions: Record<string, JsonObject> = {}

  function convert(node: Node): JsonObject {
    const name = names.get(node)
    if (name === undefined) return convertInPlace(node)
    if (!Object.hasOwn(definitions, name)) {
      definitions[name] = {} // a schema may refer to itself
      definitions[name] = convertInPlace(node)
    }
    return { $ref: prefix + name }
  }

  function convertInPlace(node: Node): JsonObject {
    const parts = node.pipe?.map((part) => (part.kind === 'schema' ? convert(part) : getKeywords(part, node.type)))
    return parts ? Object.assign({}, ...parts) : convertSchema(node)
  }

  function convertSchema(node: Node): JsonObject {
    switch (node.type) {
      case 'string':
      case 'number':
      case 'boolean':
        return { type: node.type }
      case 'literal':
        return { const: node.literal }
      case 'picklist':
        return { type: 'string', enum: node.options }
      case 'unknown':
      case 'custom':
        return {}
      case 'array':
        return { type: 'array', items: convertNested(node.item) }
      case 'record':
        return {
          type: 'object',
          propertyNames: convertNested(node.key),
          additionalProperties: convertNested(node.value),
        }
      case 'object':
      case 'strict_object':
        return convertObject(node)
      case 'nullable':
        return makeNullable(convertNested(node.wrapped))
      case 'exact_optional':
      case 'optional':
        return convertNested(node.wrapped)
      case 'union':
      case 'lazy': // only supports lazy schemas that list their options, such as `alternatives` in src/admin/input.ts
        if (node.options) return { anyOf: node.options.map(convertNested) }
    }
    throw new TypeError(`There is no JSON Schema for the schema "${node.type}".`)
  }

  /** Omits fields that are always rejected. */
  function convertObject({ type, entries = {} }: Node): JsonObject {
    const visibleEntries = Object.entries(entries).filter(([, entry]) => entry.wrapped?.type !== 'never')
    const required = visibleEntries.filter(([, entry]) => !entry.type.endsWith('optional')).map(([name]) => name)
    return {
      type: 'object',
      properties: Object.fromEntries(visibleEntries.map(([name, entry]) => [name, convert(entry)])),
      ...(required.length > 0 && { required }),
      ...(type === 'strict_object' && { additionalProperties: false }),
    }
  }

  function convertNested(node: unknown): JsonObject {
    if (!node) throw new TypeError('A schema lacks the one within it.')
    return convert(node as Node) // nested schemas are also nodes
  }

  return { convert, definitions }
}

/** The fields of valibot's schemas and actions that the converter reads. */
interface Node {
  kind: string
  type: string
  pipe?: readonly Node[]
  entries?: Readonly<Record<string, Node>>
  wrapped?: Node
  item?: Node
  key?: Node
  value?: Node
  options?: readonly unknown[]
  literal?: unknown
  requirement?: unknown
  metadata?: object
}

/** Returns the keywords for a pipe action whose schema has this type. */
function getKeywords({ type: action, requirement, metadata }: Node, type: string): JsonObject {
  switch (action) {
    case 'non_empty':
      return { [type === 'array' ? 'minItems' : 'minLength']: 1 }
    case 'min_length':
      return { [type === 'array' ? 'minItems' : 'minLength']: requirement }
    case 'max_length':
      return { [type === 'array' ? 'maxItems' : 'maxLength']: requirement }
    case 'min_value':
      return { minimum: requirement }
    case 'gt_value':
      return { exclusiveMinimum: requirement }
    case 'max_value':
      return { maximum: requirement }
    case 'integer':
      return { type: 'integer' }
    case 'regex':
      return { pattern: (requirement as RegExp).source }
    case 'iso_timestamp':
      return { format: 'date-time' }
    case 'metadata':
      return { ...metadata }
    default:
      return {}
  }
}

/** Returns the schema, extended to allow `null`. */
export function makeNullable(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) && { enum: [...values, null] }) }
}
