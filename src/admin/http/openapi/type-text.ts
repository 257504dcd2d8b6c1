import type { JsonObject } from '../../../lib/json.ts'
import { makeNullable } from '../../../lib/json-schema.ts'

/**
 * Converts a type in TypeScript syntax, such as `{id: string, size?: integer, at: time | null}`, to JSON Schema 2020-12. It can contain objects,
 * `Record<values>`, arrays, unions, literals, and names, for which `createReference` returns a reference.
 */
export function convertType(text: string, createReference: (name: string) => JsonObject): JsonObject {
  const tokens = text.match(/'[^']*'|[\w.-]+|\S/g) ?? []
  let position = 0
  const next = () => tokens[position++] ?? ''
  const skip = (token: string) => tokens[position] === token && next() === token

  function readUnion(end: string): JsonObject {
    const members = [readArray()]
    while (skip('|')) members.push(readArray())
    skip(end)
    return createUnionSchema(members)
  }

  function readArray(): JsonObject {
    let schema = readType(next())
    for (; skip('['); next()) schema = { type: 'array', items: schema }
    return schema
  }

  function readType(token: string): JsonObject {
    if (token === '{') return readObject()
    if (token === '(') return readUnion(')')
    if (token.startsWith("'")) return { const: token.slice(1, -1) }
    if (token === 'Record' && skip('<'))
      return { type: 'object', propertyNames: { type: 'string' }, additionalProperties: readUnion('>') }
    return Object.hasOwn(basicTypes, token) ? { ...basicTypes[token] } : createReference(token)
  }

  function readObject(): JsonObject {
    const properties: JsonObject = {}
    const required: string[] = []
    while (!skip('}')) {
      const name = next()
      if (!skip('?')) required.push(name)
      next()
      properties[name] = readUnion(',')
    }
    return { type: 'object', properties, ...(required.length > 0 && { required }) }
  }

  return readUnion('')
}

const basicTypes: Readonly<Record<string, JsonObject>> = {
  ...Object.fromEntries(['string', 'number', 'integer', 'boolean', 'null', 'object'].map((type) => [type, { type }])),
  time: { type: 'string', format: 'date-time' },
  true: { const: true },
  unknown: {},
}

function createUnionSchema(members: readonly JsonObject[]): JsonObject {
  const others = members.filter(({ type }) => type !== 'null')
  const isChoice = others.length > 1 && others.every((member) => 'const' in member)
  const union = isChoice
    ? { type: 'string', enum: others.map((member) => member.const) }
    : others.length === 1
      ? { ...others[0] }
      : { anyOf: others }
  return others.length < members.length ? makeNullable(union) : union
}
