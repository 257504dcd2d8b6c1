import { connectionInputs } from './connection-input.ts'
import { connectionTestInput } from './connection-test.ts'
import type { ConnectionOperations } from './connections.ts'
import { createRecordRoutes, type OperationEntries, omittedFieldsNote, updateDescription } from './operation-table.ts'

const routes = createRecordRoutes('/api/connections', 'connection')

export const connectionTable = {
  list: {
    ...routes.list,
    summary: 'List the connections',
    description: 'Only the last four characters of credentials are shown.',
  },
  create: {
    ...routes.create,
    input: connectionInputs.create,
    summary: 'Create a connection',
    description:
      'The provider must be in the catalog, be a compatible kind, or come with a `baseUrl`. `null` counts as omitted. `warnings` describe what cannot work yet.',
  },
  get: {
    ...routes.get,
    summary: 'Get a connection',
  },
  update: {
    ...routes.update,
    input: connectionInputs.update,
    summary: 'Change a connection',
    description: `${updateDescription} \`providerSpecificData\` is replaced as a whole. Resets its health.`,
  },
  delete: {
    ...routes.delete,
    summary: 'Delete a connection',
  },
  put: {
    ...routes.put,
    input: connectionInputs.put,
    summary: 'Create or change a connection',
    description: `Identified by the \`id\` you choose. ${omittedFieldsNote}`,
  },
  discover: {
    method: 'POST',
    path: '/api/connections/:id/models',
    failure: 'discover models',
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
    summary: 'Test a connection with a small request',
    description:
      'At most 16 tokens within 10 s. It is recorded as usage and affects the health of the connection. No body is needed.',
    parameters: { model: 'The id of the model to call; default: one that the connection lists.' },
  },
} satisfies OperationEntries<ConnectionOperations>
