import * as v from 'valibot'
import { connectionFields } from '../types/records/connection-fields.ts'
import { connectionInputs } from './connection-input.ts'
import { connectionTestInput } from './connection-test.ts'
import type { ConnectionOperations } from './connections.ts'
import { healthEntry } from './health-table.ts'
import { changeInPlace, type OperationEntries, omittedStay, recordRoutes } from './operation-table.ts'
import { flag, named, number, shownSchema, success, text, warnings, whole } from './output-schemas.ts'

const state = { error: v.exactOptional(text), health: v.exactOptional(v.array(healthEntry)) }
const connection = named('Connection', shownSchema(connectionFields, state))
const changedConnection = shownSchema(connectionFields, { ...state, ...warnings })

const routes = recordRoutes('/api/connections', 'connection')

export const connectionTable = {
  list: {
    ...routes.list,
    output: v.object({ connections: v.array(connection) }),
    summary: 'List the connections',
    description: 'Only the last four characters of credentials are shown.',
  },
  create: {
    ...routes.create,
    input: connectionInputs.create,
    output: changedConnection,
    summary: 'Create a connection',
    description:
      'The provider must be in the catalog, be a compatible kind, or come with a `baseUrl`. `null` counts as omitted. `warnings` describe what cannot work yet.',
  },
  get: {
    ...routes.get,
    output: connection,
    summary: 'Get a connection',
  },
  update: {
    ...routes.update,
    input: connectionInputs.update,
    output: changedConnection,
    summary: 'Change a connection',
    description: `${changeInPlace} \`providerSpecificData\` is replaced as a whole. Resets its health.`,
  },
  delete: {
    ...routes.delete,
    output: success,
    summary: 'Delete a connection',
  },
  put: {
    ...routes.put,
    input: connectionInputs.put,
    output: changedConnection,
    summary: 'Create or change a connection',
    description: `Identified by the \`id\` you choose. ${omittedStay}`,
  },
  discover: {
    method: 'POST',
    path: '/api/connections/:id/models',
    failure: 'discover models',
    output: changedConnection,
    summary: "Query a connection's server for its models",
    description:
      'Stores them as `enabledModels`. If the query fails, nothing changes, and `warnings` say what to do. No body is needed.',
    errors: [415],
  },
  test: {
    method: 'POST',
    path: '/api/connections/:id/test',
    failure: 'test connection',
    input: connectionTestInput,
    isBodyOptional: true,
    output: v.object({ ok: flag, status: whole, ms: number, model: text, message: v.exactOptional(text) }),
    summary: 'Test a connection with a small request',
    description:
      'At most 16 tokens within 10 s. It is recorded as usage and affects the health of the connection. No body is needed.',
  },
} satisfies OperationEntries<ConnectionOperations>
