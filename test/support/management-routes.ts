import { createOperationRoutes, groupByRoute } from '../../src/admin/http/operation-routes.ts'
import { type FeatureOperations, listOperations } from '../../src/admin/operation-table.ts'
import { listServedOperations, type Management } from '../../src/management/operations.ts'
import type { HttpRoute } from '../../src/request/door/router.ts'

/** Creates the routes for all management operations, including those that features add. */
export const managementRoutes = (api: Management<unknown>, added: FeatureOperations = {}): HttpRoute[] =>
  createOperationRoutes(groupByRoute([...listServedOperations(), ...listOperations(added)]), {
    api,
    limits: { maxBytes: 1024 * 1024 },
    store: undefined,
  })
