import type { RouteCall, RouteContext } from '../request/route-call.ts'
import type { RequestModels } from '../types.ts'
import type { CodeListModel, ModelName } from './code-config.ts'

/** The models to use for a request, with the options of a model list (docs/src/content/docs/reference/request-options.md). */
export interface RouteModels extends Omit<RequestModels, 'models'> {
  models: readonly CodeListModel[]
}

/** The result of `route`: a model, alias, or combo, or a list of models. `undefined` means that the request is routed as usual. */
export type RouteResult = ModelName | readonly CodeListModel[] | RouteModels | undefined

/** Options that route requests in code. */
export interface RouteOptions {
  /**
   * Chooses the models for each model request, once, after its body has been read. The result replaces the requested name: a client that may use the
   * name `auto` may use the models that `auto` is routed to; otherwise, it needs access to each target. Limits still apply. If the function throws,
   * returns an unknown name, or takes more than a second, the client gets a 503 `route_failed`, and `onError` receives the cause.
   */
  route?: (request: RouteCall, context: RouteContext) => RouteResult | Promise<RouteResult>
  /** `ignore` routes the request as usual if `route` fails. Default: `fail`. */
  onRouteError?: 'fail' | 'ignore'
}
