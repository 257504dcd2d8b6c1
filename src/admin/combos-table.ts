import { type ComboOperations, comboInputs } from './combos.ts'
import { changeInPlace, createRecordRoutes, type OperationEntries, putRecord } from './operation-table.ts'

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
    description: `${changeInPlace} Its rotation is reset.`,
  },
  delete: {
    ...routes.delete,
    summary: 'Delete a combo',
  },
  put: {
    ...routes.put,
    input: comboInputs.put,
    summary: 'Create or change a combo',
    description: putRecord,
  },
} satisfies OperationEntries<ComboOperations>
