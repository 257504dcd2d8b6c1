import { parseInput } from './input.ts'
import type { FeatureOperation, FeatureOperations } from './operation-table.ts'

/** The functions of the operations that features add. Throws a TypeError if one has a resource of the gateway's own `api`. */
export function createFeatureApi(operations: FeatureOperations, api: object): object {
  const taken = Object.keys(operations).find((resource) => Object.hasOwn(api, resource))
  if (taken !== undefined) throw new TypeError(`gateway.api.${taken} already exists. Rename it.`)
  return mapValues(operations, (entries) => mapValues(entries, createFunction))
}

function createFunction({ path, input, run }: FeatureOperation) {
  const parameterCount = path.split('/:').length - 1
  return async (...args: unknown[]): Promise<object> => {
    const inputs = input ? [parseInput(input, args[parameterCount] ?? {})] : []
    return Reflect.apply(run, undefined, [...args.slice(0, parameterCount), ...inputs])
  }
}

const mapValues = <Value>(record: Readonly<Record<string, Value>>, map: (value: Value) => unknown) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
