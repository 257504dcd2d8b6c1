import * as v from 'valibot'
import { newApiKey } from '../../../admin/keys-table.ts'
import type { OperationEntries } from '../../../admin/operation-table.ts'
import { flag, named, number, success, text, time, warnings } from '../../../admin/output-schemas.ts'
import { type CloudOperations, cloudInputs } from './cloud-operations.ts'

const conflict = named(
  'CloudConflict',
  v.object({ collection: text, id: text, kept: v.picklist(['gateway', 'cloud']), at: time }),
)
const synced = v.object({ success: v.literal(true), conflicts: v.array(conflict) })
const state = named(
  'CloudState',
  v.object({
    cloudEnabled: flag,
    cloudUrl: text,
    lastSuccessAt: v.nullable(time),
    lagMs: number,
    lastError: v.nullable(text),
    conflicts: v.array(conflict),
  }),
)
const session = named('CloudSession', v.object({ id: text, createdAt: time, lastUsedAt: time }))

/** The state of cloud sync doesn't allow the operation, the proxy fails, or it takes too long. */
const errors = [409, 502, 504]

export const cloudTable = {
  get: {
    method: 'GET',
    path: '/api/sync/cloud',
    failure: 'fetch cloud state',
    output: state,
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
    output: v.object({
      ...synced.entries,
      verified: flag,
      verifyError: v.exactOptional(text),
      createdKey: v.exactOptional(newApiKey),
      ...warnings,
    }),
    summary: 'Turn on cloud sync',
    description: 'Creates a key if there is none. Succeeds even if cloud sync could not be verified.',
    errors,
  },
  sync: {
    method: 'POST',
    path: '/api/sync/cloud',
    action: 'sync',
    failure: 'sync with cloud',
    output: synced,
    summary: 'Sync changes in both directions now',
    errors,
  },
  disable: {
    method: 'POST',
    path: '/api/sync/cloud',
    action: 'disable',
    failure: 'disable cloud',
    input: cloudInputs.disable,
    output: synced,
    summary: 'Turn off cloud sync',
    description: 'Fetches the latest changes, then deletes the data and sessions on the proxy.',
    errors,
  },
  check: {
    method: 'POST',
    path: '/api/sync/cloud',
    action: 'check',
    failure: 'check cloud',
    output: v.object({ message: text }),
    summary: 'Check that the proxy is reachable',
    errors,
  },
  sessions: {
    list: {
      method: 'GET',
      path: '/api/sync/cloud/sessions',
      failure: 'fetch sessions',
      output: v.object({ sessions: v.array(session) }),
      summary: 'List the sessions on the cloud proxy',
      errors,
    },
    revoke: {
      method: 'DELETE',
      path: '/api/sync/cloud/sessions/:id',
      failure: 'revoke session',
      output: success,
      summary: 'End a session on the cloud proxy',
      errors,
    },
  },
} satisfies OperationEntries<CloudOperations>
