import type { OperationEntries } from '../../../admin/operation-table.ts'
import { type CloudOperations, cloudInputs } from './cloud-operations.ts'

/** The error statuses: the current state doesn't allow the operation (409), the proxy failed (502), or it didn't respond in time (504). */
const errors = [409, 502, 504]

export const cloudTable = {
  get: {
    method: 'GET',
    path: '/api/sync/cloud',
    failure: 'fetch cloud state',
    summary: 'Get the state of cloud sync',
    description: 'As far as this gateway knows, without calling the proxy.',
  },
  enable: {
    method: 'POST',
    path: '/api/sync/cloud',
    action: 'enable',
    routeSummary: 'Control cloud sync',
    failure: 'enable cloud',
    input: cloudInputs.enable,
    summary: 'Turn on cloud sync',
    description: 'Creates a key if there is none. Succeeds even if cloud sync could not be verified.',
    parameters: { enrollmentToken: 'The token of the proxy; only needed the first time.' },
    errors,
  },
  sync: {
    method: 'POST',
    path: '/api/sync/cloud',
    action: 'sync',
    failure: 'sync with cloud',
    summary: 'Sync changes in both directions now',
    errors,
  },
  disable: {
    method: 'POST',
    path: '/api/sync/cloud',
    action: 'disable',
    failure: 'disable cloud',
    input: cloudInputs.disable,
    summary: 'Turn off cloud sync',
    description: 'Fetches the latest changes, then deletes the data and sessions on the proxy.',
    parameters: { force: 'Whether to turn it off even if the proxy fails.' },
    errors,
  },
  check: {
    method: 'POST',
    path: '/api/sync/cloud',
    action: 'check',
    failure: 'check cloud',
    summary: 'Check that the proxy is reachable',
    errors,
  },
  sessions: {
    list: {
      method: 'GET',
      path: '/api/sync/cloud/sessions',
      failure: 'fetch sessions',
      summary: 'List the sessions on the cloud proxy',
      errors,
    },
    revoke: {
      method: 'DELETE',
      path: '/api/sync/cloud/sessions/:id',
      failure: 'revoke session',
      summary: 'End a session on the cloud proxy',
      errors,
    },
  },
} satisfies OperationEntries<CloudOperations>
