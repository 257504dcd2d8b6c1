import { type GroupOperations, groupInputs } from './groups.ts'
import { createRecordRoutes, type OperationEntries, putDescription, updateDescription } from './operation-table.ts'

const routes = createRecordRoutes('/api/groups', 'group')

export const groupTable = {
  list: {
    ...routes.list,
    summary: 'List the groups of keys',
    description: 'Oldest first.',
  },
  create: {
    ...routes.create,
    input: groupInputs.create,
    summary: 'Create a group of keys',
    description: 'A customer, a team, or a plan, for example. Its keys share its limits.',
  },
  get: {
    ...routes.get,
    summary: 'Get a group of keys',
  },
  update: {
    ...routes.update,
    input: groupInputs.update,
    summary: 'Change, pause, or resume a group of keys',
    description: `${updateDescription} Takes effect with the next request of each of its keys.`,
  },
  delete: {
    ...routes.delete,
    summary: 'Delete a group of keys',
    description: 'Rejected while it has keys.',
  },
  put: {
    ...routes.put,
    input: groupInputs.put,
    summary: 'Create or change a group of keys',
    description: putDescription,
  },
} satisfies OperationEntries<GroupOperations>
