import type { GenericSchema } from 'valibot'
import type { JsonObject } from './json.ts'

/** Converts schemas of valibot to JSON Schema 2020-12. */
export interface JsonSchemaConverter {
  /**
   * The JSON Schema of the JSON values that a schema accepts; texts that it trims are described as they are after trimming. A check by a
   * function has no keyword and is left out, unless the schema names its keywords by `v.metadata`. Throws a TypeError on a kind of schema
   * that has no conversion.
   */
  convert(schema: GenericSchema): JsonObject
  /** The named schemas that were converted so far, by name. */
  readonly definitions: Readonly<Record<string, JsonObject>>
}

/** `names`: the schemas to which others refer by `<prefix><name>`, instead of holding a copy. */
export function createJsonSchemaConverter(names: ReadonlyMap<object, string>, prefix: string): JsonSchemaConverter {
  const definitions: Record<string, JsonObject> = {}

  function convert(node: Node): JsonObject {
    const name = names.get(node)
    if (name === undefined) return inPlace(node)
    if (!Object.hasOwn(definitions, name)) {
      definitions[name] = {} // a schema may refer to itself
      definitions[name] = inPlace(node)
    }
    return { $ref: prefix + name }
  }

  function inPlace(node: Node): JsonObject {
    const parts = node.pipe?.map((part) => (part.kind === 'schema' ? convert(part) : keywordsOf(part, node.type)))
    return parts ? Object.assign({}, ...parts) : ofSchema(node)
  }

  function ofSchema(node: Node): JsonObject {
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
        return { type: 'array', items: inner(node.item) }
      case 'record':
        return { type: 'object', propertyNames: inner(node.key), additionalProperties: inner(node.value) }
      case 'object':
      case 'strict_object':
        return ofObject(node)
      case 'nullable':
        return orNull(inner(node.wrapped))
      case 'exact_optional':
      case 'optional':
        return inner(node.wrapped)
      case 'union':
      case 'lazy': // only a schema that lists its options: `oneShapeOf` in src/management/input.ts
        if (node.options) return { anyOf: node.options.map(inner) }
    }
    throw new TypeError(`There is no JSON Schema for the schema "${node.type}".`)
  }

  /** A member that is always refused is not shown. */
  function ofObject({ type, entries = {} }: Node): JsonObject {
    const shown = Object.entries(entries).filter(([, entry]) => entry.wrapped?.type !== 'never')
    const required = shown.filter(([, entry]) => !entry.type.endsWith('optional')).map(([name]) => name)
    return {
      type: 'object',
      properties: Object.fromEntries(shown.map(([name, entry]) => [name, convert(entry)])),
      ...(required.length > 0 && { required }),
      ...(type === 'strict_object' && { additionalProperties: false }),
    }
  }

  /** A schema within another one. */
  function inner(node: unknown): JsonObject {
    if (!node) throw new TypeError('A schema lacks the one within it.')
    return convert(node as Node) // a schema within a schema is a schema
  }

  return { convert, definitions }
}

/** The members of valibot's schemas and actions that are read here. */
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

/** The keywords for one action of a pipe that begins with a schema of type `type`. */
function keywordsOf({ type: action, requirement, metadata }: Node, type: string): JsonObject {
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

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) && { enum: [...values, null] }) }
}
