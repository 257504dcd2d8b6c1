import * as v from 'valibot'
import { comboFields } from '../types/records/combo-fields.ts'
import { type ComboOperations, comboInputs } from './combos.ts'
import { changeInPlace, type OperationEntries, putRecord, recordRoutes } from './operation-table.ts'
import { named, shownSchema, success, warnings } from './output-schemas.ts'

const combo = named('Combo', shownSchema(comboFields))
const changedCombo = shownSchema(comboFields, warnings)

const routes = recordRoutes('/api/combos', 'combo')

export const comboTable = {
  list: {
    ...routes.list,
    output: v.object({ combos: v.array(combo) }),
    summary: 'List the combos',
  },
  create: {
    ...routes.create,
    input: comboInputs.create,
    output: changedCombo,
    summary: 'Create a combo',
    description: 'Its name must not be taken. Clients request it like a model.',
  },
  get: {
    ...routes.get,
    output: combo,
    summary: 'Get a combo',
  },
  update: {
    ...routes.update,
    input: comboInputs.update,
    output: changedCombo,
    summary: 'Change a combo',
    description: `${changeInPlace} Its rotation is reset.`,
  },
  delete: {
    ...routes.delete,
    output: success,
    summary: 'Delete a combo',
  },
  put: {
    ...routes.put,
    input: comboInputs.put,
    output: changedCombo,
    summary: 'Create or change a combo',
    description: putRecord,
  },
} satisfies OperationEntries<ComboOperations>
