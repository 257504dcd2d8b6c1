import type { Reply } from '../lib/exchange.ts'
import type { Endpoint } from '../pipeline/endpoints.ts'
import { endpoints } from '../pipeline/endpoints.ts'
import type { Route, RoutedRequest } from './route.ts'

/** The endpoints for model requests as routes. */
export const modelRoutes = (run: (request: RoutedRequest, endpoint: Endpoint) => Promise<Reply>): Route[] =>
  endpoints.map((endpoint) => ({ method: 'POST', path: endpoint.path, run: (request) => run(request, endpoint) }))
