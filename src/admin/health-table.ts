import * as v from 'valibot'
import { type DamagedRecordOperations, damagedRecordInputs, type HealthOperations } from './health-operations.ts'
import { anyObject } from './input.ts'
import type { OperationEntries } from './operation-table.ts'
import { allOptional, named, number, success, text, time, whole } from './output-schemas.ts'

const failureClass = v.picklist([
  'client',
  'context-overflow',
  'format',
  'over-budget',
  'credentials',
  'forbidden',
  'rate-limit',
  'server',
  'network',
  'timeout',
  'content',
  'filtered',
  'schema',
  'model-not-found',
  'internal',
])
const level = v.picklist(['provider', 'connection', 'model'])

/** A failure of a provider, a connection, or a model. */
export const healthEntry = named(
  'HealthEntry',
  v.object({
    level,
    provider: text,
    ...allOptional({ connectionId: text, model: text, combo: text }),
    state: v.picklist(['counting', 'cooling', 'half-open', 'probing']),
    reason: failureClass,
    message: text,
    failures: whole,
    since: time,
    retryAt: v.exactOptional(time),
  }),
)

const targetState = named(
  'TargetState',
  v.object({
    provider: text,
    connectionId: text,
    ...allOptional({ model: text, combo: text }),
    state: v.picklist(['ok', 'cooling', 'probing', 'draining']),
    calls: whole,
    ...allOptional({ failureShare: number, level, reason: failureClass, message: text, until: time }),
  }),
)

const damagedRecord = named('DamagedRecord', v.object({ key: text, problem: text }))

export const damagedRecordTable = {
  get: {
    method: 'GET',
    path: '/api/health/records/:key+',
    failure: 'fetch record',
    output: v.object({
      ...damagedRecord.entries,
      stored: text,
      record: v.exactOptional(anyObject('must be an object')),
    }),
    summary: 'Get a damaged record',
  },
  put: {
    method: 'PUT',
    path: '/api/health/records/:key+',
    failure: 'repair record',
    input: damagedRecordInputs.put,
    output: success,
    summary: 'Replace a damaged record',
    description: 'Send the whole new record.',
  },
  delete: {
    method: 'DELETE',
    path: '/api/health/records/:key+',
    failure: 'remove record',
    output: success,
    summary: 'Remove a damaged record',
  },
} satisfies OperationEntries<DamagedRecordOperations>

export const healthTable = {
  list: {
    method: 'GET',
    path: '/api/health',
    failure: 'fetch health',
    output: v.object({
      health: v.array(healthEntry),
      targets: v.array(targetState),
      damaged: v.array(damagedRecord),
    }),
    summary: 'List recent failures, the state of each target, and the damaged records',
    description: '`health` has no entries for healthy targets.',
  },
  reset: {
    method: 'DELETE',
    path: '/api/health/:id?',
    failure: 'reset health',
    output: success,
    summary: 'Reset health',
    description: 'For one connection with its models and provider, or for all.',
  },
} satisfies OperationEntries<HealthOperations>
