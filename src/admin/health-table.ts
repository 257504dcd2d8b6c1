import { type DamagedRecordOperations, damagedRecordInputs, type HealthOperations } from './health-operations.ts'
import type { OperationEntries } from './operation-table.ts'

export const damagedRecordTable = {
  get: {
    method: 'GET',
    path: '/api/health/records/:key+',
    failure: 'fetch record',
    summary: 'Get a damaged record',
  },
  put: {
    method: 'PUT',
    path: '/api/health/records/:key+',
    failure: 'repair record',
    input: damagedRecordInputs.put,
    summary: 'Replace a damaged record',
    parameters: { record: 'The whole new record.' },
  },
  delete: {
    method: 'DELETE',
    path: '/api/health/records/:key+',
    failure: 'remove record',
    summary: 'Remove a damaged record',
  },
} satisfies OperationEntries<DamagedRecordOperations>

export const healthTable = {
  list: {
    method: 'GET',
    path: '/api/health',
    failure: 'fetch health',
    summary: 'List recent failures, the state of each target, and the damaged records',
    description: '`health` has no entries for healthy targets.',
  },
  reset: {
    method: 'DELETE',
    path: '/api/health/:id?',
    failure: 'reset health',
    summary: 'Reset health',
    description: 'For one connection with its models and provider, or for all.',
  },
} satisfies OperationEntries<HealthOperations>
