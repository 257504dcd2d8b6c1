import * as v from 'valibot'
import { groupFields } from '../types/records/group-fields.ts'
import { type GroupOperations, groupInputs } from './groups.ts'
import { changeInPlace, type OperationEntries, putRecord, recordRoutes } from './operation-table.ts'
import { named, shownSchema, success, text, warnings } from './output-schemas.ts'

const error = { error: v.exactOptional(text) }
const keyGroup = named('KeyGroup', shownSchema(groupFields, error))
const changedKeyGroup = shownSchema(groupFields, { ...error, ...warnings })

const routes = recordRoutes('/api/groups', 'group')

export const groupTable = {
  list: {
    ...routes.list,
    output: v.object({ groups: v.array(keyGroup) }),
    summary: 'List the groups of keys',
    description: 'Oldest first.',
  },
  create: {
    ...routes.create,
    input: groupInputs.create,
    output: changedKeyGroup,
    summary: 'Create a group of keys',
    description: 'A customer, a team, or a plan, for example. Its keys share its limits.',
  },
  get: {
    ...routes.get,
    output: keyGroup,
    summary: 'Get a group of keys',
  },
  update: {
    ...routes.update,
    input: groupInputs.update,
    output: changedKeyGroup,
    summary: 'Change, pause, or resume a group of keys',
    description: `${changeInPlace} Takes effect with the next request of each of its keys.`,
  },
  delete: {
    ...routes.delete,
    output: success,
    summary: 'Delete a group of keys',
    description: 'Rejected while it has keys.',
  },
  put: {
    ...routes.put,
    input: groupInputs.put,
    output: changedKeyGroup,
    summary: 'Create or change a group of keys',
    description: putRecord,
  },
} satisfies OperationEntries<GroupOperations>
