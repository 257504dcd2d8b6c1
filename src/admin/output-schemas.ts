import * as v from 'valibot'
import { assertNever } from '../lib/assert-never.ts'
import type { RecordField, RecordFields, ShownOf } from '../types/records/record-fields.ts'
import type { Shape } from '../types/records/shapes.ts'
import { comboModel } from './combo-entry.ts'
import { choiceOf } from './input.ts'
import { mapped, optionalIf } from './schemas.ts'

/* Schemas of results, for the entries of operations. Results aren't validated; the schemas describe them. */

export const text = v.string()
export const flag = v.boolean()
export const number = v.number()
export const whole = v.pipe(number, v.integer())
export const time = v.pipe(text, v.isoTimestamp())
export const texts = v.array(text)

/** Gives a schema the name that OpenAPI documents use for it. */
export const named = <Schema extends object>(schemaName: string, schema: Schema): Schema =>
  Object.assign(schema, { schemaName })

/** The result of operations that return nothing. */
export const success = named('Success', v.object({ success: v.literal(true) }))

/** The field with warnings, for results that can have some. */
export const warnings = { warnings: v.exactOptional(texts) }

/** Descriptions of the parameters that several lists have. */
export const listParameters = {
  limit: 'Maximum entries per page, up to 1,000. Default: 100 requests, all keys and models.',
  before: 'The `before` of the previous page.',
  after: 'The `after` of the previous page.',
  q: 'Only keys whose name or id contains this string, or models whose id does; case-insensitive.',
}

/** The same fields, each optional. */
export function allOptional<Fields extends v.ObjectEntries>(fields: Fields) {
  const optional = Object.entries(fields).map(([name, field]) => [name, v.exactOptional(field)])
  return Object.fromEntries(optional) as { [Name in keyof Fields]: v.ExactOptionalSchema<Fields[Name], undefined> } // the same names
}

/** The schema of a result: of an object that is a `T`. */
export type ShownSchema<T> = v.GenericSchema<unknown, T> & { readonly entries: v.ObjectEntries }

/** The schema of a record in a result, with the fields that only results have. */
export function shownSchema<const F extends RecordFields, const More extends v.ObjectEntries = Record<never, never>>(
  recordFields: F,
  more?: More,
): ShownSchema<ShownOf<F> & v.InferOutput<v.ObjectSchema<More, undefined>>> {
  const entries = shownEntries(recordFields).map(([name, { shape, isOptional }]) => [
    name,
    optionalIf(isOptional, looseSchema(shape)),
  ])
  const schema: unknown = v.object({ ...Object.fromEntries(entries), ...more })
  return schema as ShownSchema<ShownOf<F> & v.InferOutput<v.ObjectSchema<More, undefined>>> // the entries and the type come from the same fields
}

const shownEntries = (recordFields: RecordFields) =>
  Object.entries<RecordField>(recordFields).filter(([, { isShown }]) => isShown !== false)

/** The schema of a `T` that has all fields, and all fields of their objects. The fields in `mayBeMissing` are as in `shownSchema`. */
export function wholeSchema<T>(recordFields: RecordFields, mayBeMissing: readonly (keyof T)[]): ShownSchema<T> {
  const missing: readonly PropertyKey[] = mayBeMissing
  const entries = shownEntries(recordFields).map(([name, { shape }]) => {
    if (missing.includes(name)) return [name, v.exactOptional(looseSchema(shape))]
    const isWhole = shape.type === 'object'
    return [name, isWhole ? v.object(mapped(shape.fields, (member) => looseSchema(member.shape))) : looseSchema(shape)]
  })
  const schema: unknown = v.object(Object.fromEntries(entries))
  return schema as ShownSchema<T> // see `shownSchema`
}

/** The schema of a value in a result: its type, without the limits for inputs. */
function looseSchema(shape: Shape): v.GenericSchema {
  switch (shape.type) {
    case 'text':
      return v.string()
    case 'flag':
      return v.boolean()
    case 'time':
      return v.pipe(v.string(), v.isoTimestamp())
    case 'number':
      return shape.isWhole ? v.pipe(v.number(), v.integer()) : v.number()
    case 'choice':
      return choiceOf([...shape.of, ...(shape.refused ?? [])])
    case 'list':
      return v.array(looseSchema(shape.of))
    case 'map':
      return v.record(v.string(), looseSchema(shape.of))
    case 'object':
      return v.object(
        mapped(shape.fields, ({ shape: inner, isOptional }) => optionalIf(isOptional, looseSchema(inner))),
      )
    case 'entry':
      return comboModel
    default:
      return assertNever(shape)
  }
}
