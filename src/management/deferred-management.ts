import type { FeatureOperation, FeatureOperations } from '../admin/operation-table.ts'
import { operationNames } from './operation-names.data.ts'
import type { Management } from './operations.ts'

/** Creates `gateway.api` without loading the operations; the first call loads them. */
export const deferManagement = (
  load: () => Promise<Management<unknown>>,
  featureOperations: FeatureOperations = {},
): Management<unknown> => deferOperations({ ...operationNames, ...featureOperations }, load) as Management<unknown> // `deferOperations` creates a function for each operation

interface NameTree {
  readonly [name: string]: 1 | FeatureOperation | NameTree
}

function deferOperations(names: NameTree, loadApi: () => Promise<object>): object {
  return Object.fromEntries(
    Object.entries(names).map(([name, inner]) => {
      const loadOperation = async () => Reflect.get(await loadApi(), name)
      const call = async (...args: unknown[]) => Reflect.apply(await loadOperation(), undefined, args)
      return [name, inner === 1 || inner.path ? call : deferOperations(inner as NameTree, loadOperation)]
    }),
  )
}
