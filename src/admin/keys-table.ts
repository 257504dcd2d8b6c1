import { type KeyOperations, keyInputs } from './keys.ts'
import {
  createRecordRoutes,
  listParameters,
  type OperationEntries,
  putDescription,
  updateDescription,
} from './operation-table.ts'

const valuesDescription = '`none`: each key has a `hint` instead of its value.'

const routes = createRecordRoutes('/api/keys', 'key')

export const keyTable = {
  list: {
    ...routes.list,
    input: keyInputs.list,
    summary: 'List the API keys',
    description:
      'Oldest first. Each includes its value, or a `hint` with `values=none`. If the response has `after`, there are more.',
    parameters: {
      ...listParameters,
      values: valuesDescription,
      group: 'Only keys of the group with this id.',
      account: 'Only keys of this account of your app, by its id or its ref.',
      state: 'Only active, paused, or expired keys.',
    },
  },
  create: {
    ...routes.create,
    input: keyInputs.create,
    summary: 'Create an API key',
    description: 'The response contains the value as `key`.',
  },
  get: {
    ...routes.get,
    input: keyInputs.get,
    summary: 'Get an API key',
    parameters: { values: valuesDescription },
  },
  update: {
    ...routes.update,
    input: keyInputs.update,
    summary: 'Change, pause, or resume an API key',
    description: `${updateDescription} Takes effect with the next request.`,
  },
  delete: {
    ...routes.delete,
    summary: 'Delete an API key',
    description: 'Requests that use it then fail with a 401.',
  },
  put: {
    ...routes.put,
    input: keyInputs.put,
    summary: 'Create or change an API key',
    description: `${putDescription} \`key\` is your own value.`,
  },
  rotate: {
    method: 'POST',
    path: '/api/keys/:id/rotate',
    failure: 'rotate key',
    input: keyInputs.rotate,
    isBodyOptional: true,
    summary: 'Rotate an API key',
    description:
      'The response contains the new value as `key`. The old value stays valid for `graceMs`: 0 by default, at most 30 days.',
    parameters: { graceMs: 'How long the old value stays valid, in ms; default 0.' },
  },
} satisfies OperationEntries<KeyOperations>
