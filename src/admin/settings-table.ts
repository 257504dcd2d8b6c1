import type { OperationEntries } from './operation-table.ts'
import { type SettingsOperations, settingsInputs } from './settings.ts'

export const settingsTable = {
  get: {
    method: 'GET',
    path: '/api/settings',
    failure: 'fetch settings',
    hasRevision: true,
    summary: 'Get the settings',
  },
  update: {
    method: 'PATCH',
    path: '/api/settings',
    failure: 'update settings',
    ifMatch: true,
    input: settingsInputs.update,
    summary: 'Change the settings',
    description:
      'Omitted fields stay the same. For routing rules, `null` restores the default. `cloudUrl` loses one trailing `/v1`, then all trailing slashes; it may be empty.',
    errors: [409],
  },
} satisfies OperationEntries<SettingsOperations>
