import * as v from 'valibot'
import { assertNever } from '../lib/assert-never.ts'
import type { RecordField, RecordFields, ShownOf } from '../types/records/fields.ts'
import type { Shape } from '../types/records/shapes.ts'
import { comboModel } from './combo-entry.ts'
import { choiceOf } from './input.ts'
import { mapped, optionalIf } from './schemas.ts'

/* The schemas of valibot for the shapes of fields, of what is shown. Only the description of the API needs them. */

/** A schema of an object that is shown: a `T`. */
export type ShownSchema<T> = v.GenericSchema<unknown, T> & { readonly entries: v.ObjectEntries }

/** The schema of a record as it is shown, with more members that answers have besides its fields. */
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

/**
 * The schema of a `T` that has every field that is shown, and in those that are objects every member; but for the fields in `mayBeMissing`, which
 * are as in `shownSchema`.
 */
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

/** The schema of a value that is shown: of its type, without the limits for what is given. */
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
