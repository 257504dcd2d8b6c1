import { memoryStorage } from '../../adapters/storage/memory.ts'
import { listFeatureRoutes } from '../../src/extend.ts'
import { createGatewayWith } from '../../src/gateway.ts'
import { collectOperations } from '../../src/management/management-feature.ts'
import { createModelRoutes } from '../../src/request/door/model-routes.ts'
import type { HttpRoute } from '../../src/request/door/router.ts'
import { managementRoutes } from './management-routes.ts'

const never = (): never => {
  throw new Error('this gateway only provides its route tables')
}

const { gateway, features } = createGatewayWith({ storage: memoryStorage(), logger: false, usage: true })

/** A gateway's routes: the model endpoints, the management operations, and its features' routes. */
export const servedRoutes: ReadonlyArray<Pick<HttpRoute, 'method' | 'path'>> = [
  ...features.flatMap(listFeatureRoutes),
  ...createModelRoutes(never),
  ...managementRoutes(gateway.api, collectOperations(features)),
]
