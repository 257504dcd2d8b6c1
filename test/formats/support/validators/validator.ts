import * as v from 'valibot'
import { isObject, type JsonObject } from '../../../../src/lib/json.ts'

/** Returns the reasons why a provider would reject a request body, each with its path. */
export type Validator = (body: JsonObject) => string[]

/** Checks the schema first, and then the rules that a schema can't express. */
export function createValidator<T>(shape: v.GenericSchema<unknown, T>, rules: (request: T) => string[]): Validator {
  return (body) => {
    const { success, output, issues } = v.safeParse(shape, body)
    return success ? rules(output) : issues.flatMap(describeIssue)
  }
}

function describeIssue(issue: v.BaseIssue<unknown>): string[] {
  const inner = issue.issues?.flatMap((each) => describeIssue(each)) ?? []
  const at = v.getDotPath(issue) ?? ''
  return inner.length > 0 ? inner.map((text) => `${at} > ${text}`) : [`${at}: ${issue.message}`]
}

/** Returns the violated rules. */
export const listBroken = (rules: Record<string, boolean>): string[] =>
  Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]))

export const json = v.record(v.string(), v.unknown())
export const words = v.pipe(v.string(), v.minLength(1))
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))
export const numberBetween = (least: number, most: number) => v.pipe(v.number(), v.minValue(least), v.maxValue(most))
export const nonEmptyArray = <S extends v.GenericSchema>(schema: S) => v.pipe(v.array(schema), v.minLength(1))
export const name = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/))
export const dataUrl = v.pipe(v.string(), v.regex(/^data:[^,;]+;base64,/))
export const webUrl = v.pipe(v.string(), v.regex(/^(https?|gs):/))
export const labels = v.pipe(v.record(v.pipe(v.string(), v.maxLength(64)), v.pipe(v.string(), v.maxLength(512))))

/** Returns whether each object in a JSON Schema requires all of its properties and allows no others. */
export const isStrict = (schema: unknown): boolean =>
  everyObject(schema, isClosed) && everyObject(schema, hasAllRequired)

export const isClosed = (schema: JsonObject): boolean => schema.additionalProperties === false

const hasAllRequired = ({ properties, required }: JsonObject): boolean =>
  Object.keys(isObject(properties) ? properties : {}).every((key) => Array.isArray(required) && required.includes(key))

/** Returns whether `holds` is true for every object that a JSON Schema describes. */
export function everyObject(schema: unknown, holds: (schema: JsonObject) => boolean): boolean {
  if (Array.isArray(schema)) return schema.every((each) => everyObject(each, holds))
  if (!isObject(schema)) return true
  const { properties, items, anyOf, allOf, oneOf, $defs, definitions, type } = schema
  const named = [properties, $defs, definitions].flatMap((each) => (isObject(each) ? Object.values(each) : []))
  const inner = [...named, items, anyOf, allOf, oneOf]
  return (type !== 'object' || holds(schema)) && inner.every((each) => everyObject(each, holds))
}
