import { type ComboOperations, comboInputs } from './combos.ts'
import { createRecordRoutes, type OperationEntries, putDescription, updateDescription } from './operation-table.ts'

const routes = createRecordRoutes('/api/combos', 'combo')

export const comboTable = {
  list: {
    ...routes.list,
    summary: 'List the combos',
  },
  create: {
    ...routes.create,
    input: comboInputs.create,
    summary: 'Create a combo',
    description: 'Its name must not be taken. Clients request it like a model.',
  },
  get: {
    ...routes.get,
    summary: 'Get a combo',
  },
  update: {
    ...routes.update,
    input: comboInputs.update,
    summary: 'Change a combo',
    description: `${updateDescription} Its rotation is reset.`,
  },
  delete: {
    ...routes.delete,
    summary: 'Delete a combo',
  },
  put: {
    ...routes.put,
    input: comboInputs.put,
    summary: 'Create or change a combo',
    description: putDescription,
  },
} satisfies OperationEntries<ComboOperations>
