import { type OperationEntries, omittedFieldsNote, updateDescription } from '../../../admin/operation-table.ts'
import { type GuardOperations, guardInputs } from './guard-operations.ts'

/** The operations on guards, at `/api/guards`. */
export const guardTable = {
  list: {
    method: 'GET',
    path: '/api/guards',
    failure: 'fetch guards',
    summary: 'List the guards',
    description: 'Oldest first. Guards that are functions in code are not listed; they check every request.',
  },
  create: {
    method: 'POST',
    path: '/api/guards',
    failure: 'create guard',
    status: 201,
    input: guardInputs.create,
    summary: 'Create a guard',
    description: 'The guard checks a request if the settings, a group, a key, or a combo names it.',
  },
  test: {
    method: 'POST',
    path: '/api/guards/test',
    failure: 'test guards',
    input: guardInputs.test,
    summary: 'Try guards on sample text',
    description:
      'Checks the text with the named guards, with a guard that is not stored, or with both, one after another. Stores nothing.',
    parameters: {
      text: 'The text to check.',
      guards: 'The names of guards.',
      guard: 'A guard that is not stored, with the fields of a new guard.',
      stage: 'Whether the text is part of a `request` (default) or of an `answer`.',
    },
  },
  get: {
    method: 'GET',
    path: '/api/guards/:name',
    failure: 'fetch guard',
    hasRevision: true,
    summary: 'Get a guard',
  },
  update: {
    method: 'PUT',
    path: '/api/guards/:name',
    failure: 'update guard',
    ifMatch: true,
    input: guardInputs.update,
    summary: 'Change a guard',
    description: `${updateDescription} Takes effect with the next request.`,
    errors: [409],
  },
  delete: {
    method: 'DELETE',
    path: '/api/guards/:name',
    failure: 'delete guard',
    ifMatch: true,
    summary: 'Delete a guard',
    description: 'Rejected while the settings, a group, a key, or a combo names it.',
    errors: [409],
  },
  put: {
    method: 'PUT',
    path: '/api/guards',
    failure: 'put guard',
    input: guardInputs.put,
    summary: 'Create or change a guard',
    description: `Identified by \`name\`. ${omittedFieldsNote}`,
    errors: [409],
  },
} satisfies OperationEntries<GuardOperations>
