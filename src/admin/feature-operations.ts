import { parseInput } from './input.ts'
import type { FeatureOperation, FeatureOperations, NamedOperation } from './operation-table.ts'

/** Throws a TypeError if a feature's operation has the same route as one of the gateway's, because the gateway's would hide it. */
export function checkRoutesOfFeatures(
  featureOperations: readonly NamedOperation[],
  builtInOperations: readonly NamedOperation[],
): void {
  const toRoute = ({ method, path }: NamedOperation) => `${method} ${path.replaceAll(/:\w+/g, ':')}`
  const takenRoutes = new Set(builtInOperations.map(toRoute))
  const conflict = featureOperations.find((operation) => takenRoutes.has(toRoute(operation)))
  if (!conflict) return
  const { method, path, names } = conflict
  throw new TypeError(
    `The operation ${names.join('.')} has the route ${method} ${path}, which is the gateway's. Change its path.`,
  )
}

/** Creates the functions for operations that features add. */
export const createFeatureApi = (operations: FeatureOperations): object =>
  mapValues(operations, (entries) => mapValues(entries, createApiFunction))

function createApiFunction({ path, input, run }: FeatureOperation) {
  const parameterCount = path.split('/:').length - 1
  return async (...args: unknown[]): Promise<object> => {
    const inputs = input ? [parseInput(input, args[parameterCount] ?? {})] : []
    return Reflect.apply(run, undefined, [...args.slice(0, parameterCount), ...inputs])
  }
}

const mapValues = <Value>(record: Readonly<Record<string, Value>>, convert: (value: Value) => unknown) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, convert(value)]))
