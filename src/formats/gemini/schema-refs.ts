import { isObject, type JsonObject } from '../../lib/json.ts'
import { schemaAt } from '../canonical/schema-at.ts'

/** A schema with what its references and its `allOf` say put in, and the references that were followed. */
export interface Resolved {
  schema: JsonObject
  refs: readonly string[]
}

/** Puts in what Google's older `Schema` has no words for. */
export interface Resolver {
  /** Undefined when the schema is within itself, or when there would be too much of it. Told of what two conditions say differently. */
  enter(schema: JsonObject, lose: (keyword: string) => void): Resolved | undefined
  /** The schema is written, so that its references may be followed again. */
  leave(resolved: Resolved): void
}

export function createResolver(root: JsonObject): Resolver {
  const entered = new Set<string>()
  let size = 0

  return {
    enter(given, lose) {
      const refs: string[] = []
      let schema = withoutAllOf(given, lose)
      if (++size > MAX_SIZE) return undefined
      while (typeof schema.$ref === 'string') {
        const { $ref, ...beside } = schema
        const target = entered.has($ref) ? undefined : schemaAt(root, $ref)
        if (!target) {
          for (const ref of refs) entered.delete(ref)
          return undefined
        }
        entered.add($ref)
        refs.push($ref)
        schema = withoutAllOf({ ...target, ...beside }, lose)
      }
      return { schema, refs }
    },
    leave({ refs }) {
      for (const ref of refs) entered.delete(ref)
    },
  }
}

/** The conditions of `allOf` in one schema. Of two that say a keyword differently the first one counts. */
function withoutAllOf(schema: JsonObject, lose: (keyword: string) => void): JsonObject {
  const { allOf, ...joined } = schema
  if (!Array.isArray(allOf)) return schema
  for (const part of allOf) {
    if (!isObject(part)) continue
    for (const keyword in part) {
      const before = joined[keyword]
      const more = part[keyword]
      if (before === undefined) joined[keyword] = more
      else if (isObject(before) && isObject(more)) joined[keyword] = { ...more, ...before }
      else if (keyword === 'required' && Array.isArray(before) && Array.isArray(more))
        joined.required = [...new Set([...before, ...more])]
      else if (before !== more) lose('allOf')
    }
  }
  return joined
}

/** Definitions that use each other twice would double with every level. */
const MAX_SIZE = 5_000
