import type { FeatureOperation, FeatureOperations } from '../admin/operation-table.ts'
import { operationNames } from './operation-names.data.ts'
import type { Management } from './operations.ts'

/** Creates `gateway.api` before the code of the operations is loaded; the first call loads it. `added` contains the operations of features. */
export const deferManagement = (
  load: () => Promise<Management<unknown>>,
  added: FeatureOperations = {},
): Management<unknown> => defer({ ...operationNames, ...added }, load) as Management<unknown> // it has the names of all operations

interface NameTree {
  readonly [name: string]: 1 | FeatureOperation | NameTree
}

function defer(names: NameTree, load: () => Promise<object>): object {
  return Object.fromEntries(
    Object.entries(names).map(([name, inner]) => {
      const loadMember = async () => Reflect.get(await load(), name)
      const call = async (...args: unknown[]) => Reflect.apply(await loadMember(), undefined, args)
      return [name, inner === 1 || inner.path ? call : defer(inner as NameTree, loadMember)]
    }),
  )
}
