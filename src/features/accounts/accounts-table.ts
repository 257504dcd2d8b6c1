import { type OperationEntries, omittedFieldsNote, updateDescription } from '../../admin/operation-table.ts'
import { type AccountOperations, accountInputs } from './account-operations.ts'

/** The operations on accounts, at `/api/accounts`. */
export const accountTable = {
  list: {
    method: 'GET',
    path: '/api/accounts',
    failure: 'fetch accounts',
    input: accountInputs.list,
    summary: "List the accounts of your app's users and customers",
    description: 'In no particular order. If the response has `after`, there are more.',
    parameters: {
      limit: 'Maximum entries per page, up to 1,000. Default: 100.',
      after: 'The `after` of the previous page.',
      state: 'Only active or paused accounts.',
      plan: 'Only accounts whose plan has this id.',
    },
  },
  put: {
    method: 'PUT',
    path: '/api/accounts',
    failure: 'put account',
    input: accountInputs.put,
    summary: 'Create or change an account',
    description: `Identified by \`id\`. ${omittedFieldsNote} The account no longer expires.`,
  },
  get: {
    method: 'GET',
    path: '/api/accounts/:id',
    failure: 'fetch account',
    summary: 'Get an account',
    description: 'By its ref, or by its percent-encoded id, as with the other operations.',
  },
  update: {
    method: 'PUT',
    path: '/api/accounts/:id',
    failure: 'update account',
    input: accountInputs.update,
    summary: 'Change an account',
    description: `${updateDescription} Takes effect with the next request. The account no longer expires.`,
  },
  pause: {
    method: 'POST',
    path: '/api/accounts/:id/pause',
    failure: 'pause account',
    summary: 'Pause an account',
    description: 'Its requests fail with a 403, and those in flight end within a second.',
  },
  resume: {
    method: 'POST',
    path: '/api/accounts/:id/resume',
    failure: 'resume account',
    summary: 'Resume an account',
  },
  revoke: {
    method: 'POST',
    path: '/api/accounts/:id/revoke',
    failure: 'revoke account',
    summary: 'Revoke the cached identities and tokens of an account',
  },
  delete: {
    method: 'DELETE',
    path: '/api/accounts/:id',
    failure: 'delete account',
    input: accountInputs.delete,
    summary: 'Delete an account',
    description: 'Rejected while it has API keys. Its usage records stay under its ref.',
    parameters: { usage: '`keep` (default): usage still shows the id. `erase`: no id is left.' },
  },
} satisfies OperationEntries<AccountOperations>
