import { existsSync, readFileSync } from 'node:fs'
import { isObject, type JsonObject } from '../../../../src/lib/json.ts'
import { skip } from '../../../support/suite.ts'

const file = new URL('../../../../../shared/recordings/specs/openresponses.openapi.json', import.meta.url)

/** Returns how a value violates an Open Responses schema. Skips the test if the schemas are unavailable. */
export function createValidator(): (name: string, value: unknown) => string[] {
  if (!existsSync(file)) skip('recordings: ../shared/recordings is missing')
  const { schemas }: { schemas: Record<string, JsonObject> } = JSON.parse(readFileSync(file, 'utf8')).components
  const byRef = (ref: unknown) => schemas[String(ref).split('/').at(-1) ?? ''] ?? {}

  function getProblems(schema: unknown, value: unknown, path: string): string[] {
    if (!isObject(schema)) return []
    const { $ref, type, required, properties, items, allOf, anyOf, oneOf } = schema
    if ($ref) return getProblems(byRef($ref), value, path)
    const found = list(allOf).flatMap((part) => getProblems(part, value, path))
    const choices = [...list(anyOf), ...list(oneOf)].map((part) => getProblems(part, value, path))
    const nearest = choices.sort((a, b) => a.length - b.length)[0] ?? []
    found.push(...nearest)
    if (Array.isArray(schema.enum) && !schema.enum.includes(value)) found.push(`${path}: ${value} is not in the list`)
    if (type !== undefined && !isOf(type, value)) return [...found, `${path}: ${JSON.stringify(value)} is no ${type}`]
    if (isObject(value)) {
      for (const name of list(required)) if (!(String(name) in value)) found.push(`${path}.${name} is missing`)
      for (const [name, inner] of Object.entries(isObject(properties) ? properties : {}))
        if (name in value) found.push(...getProblems(inner, value[name], `${path}.${name}`))
    }
    const inside = list(value).flatMap((each, index) => getProblems(items, each, `${path}[${index}]`))
    return [...found, ...inside]
  }

  return (name, value) => (schemas[name] ? getProblems(schemas[name], value, name) : [`there is no schema ${name}`])
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

function isOf(type: unknown, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}
