import type { JsonObject } from '../../../lib/json.ts'
import { makeNullable } from '../../../lib/json-schema.ts'

/**
 * Converts a type in TypeScript syntax, such as `{id: string, size?: integer, at: time | null}`, to JSON Schema 2020-12. It can contain objects,
 * `Record<values>`, arrays, unions, literals, and names, for which `createReference` returns a reference.
 */
export function convertType(text: string, createReference: (name: string) => JsonObject): JsonObject {
  const tokens = text.match(/'[^']*'|[\w.-]+|\S/g) ?? []
  let position = 0
  const readToken = () => tokens[position++] ?? ''
  const skipToken = (token: string) => tokens[position] === token && readToken() === token

  function readUnion(end: string): JsonObject {
    const members = [readArray()]
    while (skipToken('|')) members.push(readArray())
    skipToken(end)
    return createUnionSchema(members)
  }

  function readArray(): JsonObject {
    let schema = readType(readToken())
    for (; skipToken('['); readToken()) schema = { type: 'array', items: schema }
    return schema
  }

  function readType(token: string): JsonObject {
    if (token === '{') return readObject()
    if (token === '(') return readUnion(')')
    if (token.startsWith("'")) return { const: token.slice(1, -1) }
    if (token === 'Record' && skipToken('<'))
      return { type: 'object', propertyNames: { type: 'string' }, additionalProperties: readUnion('>') }
    return Object.hasOwn(basicTypes, token) ? { ...basicTypes[token] } : createReference(token)
  }

  function readObject(): JsonObject {
    const properties: JsonObject = {}
    const requiredNames: string[] = []
    while (!skipToken('}')) {
      const name = readToken()
      if (!skipToken('?')) requiredNames.push(name)
      readToken()
      properties[name] = readUnion(',')
    }
    return { type: 'object', properties, ...(requiredNames.length > 0 && { required: requiredNames }) }
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
  const nonNullMembers = members.filter(({ type }) => type !== 'null')
  const isEnum = nonNullMembers.length > 1 && nonNullMembers.every((member) => 'const' in member)
  const union = isEnum
    ? { type: 'string', enum: nonNullMembers.map((member) => member.const) }
    : nonNullMembers.length === 1
      ? { ...nonNullMembers[0] }
      : { anyOf: nonNullMembers }
  return nonNullMembers.length < members.length ? makeNullable(union) : union
}
