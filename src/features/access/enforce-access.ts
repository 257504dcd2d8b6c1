import { gatewayError, isGatewayError } from '../../errors.ts'
import type { Reply } from '../../lib/exchange.ts'
import { addPolicies } from '../../request/data-policy.ts'
import type { ServedRoute } from '../../request/request-log.ts'
import type { RouteRequest } from '../../request/route-request.ts'
import { getRequestedName } from '../../request/routing/group.ts'
import type { NameRule, TargetRule } from '../../request/steps.ts'
import type { Catalog } from '../../types.ts'
import { Access } from './allowed-models.ts'
import { createBodyRule } from './body-rule.ts'

/**
 * Routes a request only to targets that the caller may use. Rejects with `MODEL_NOT_ALLOWED` if there are none, or if the caller may not use models
 * of the endpoint's kind. Rejects with `NO_COMPLIANT_TARGET` if no target meets the caller's data policies.
 */
export async function enforceAccess(
  { route, log, caller }: RouteRequest,
  catalog: Catalog,
  next: () => Promise<Reply>,
): Promise<Reply> {
  const access = new Access(caller, catalog)
  addPolicies(access.policies, log)
  if (!access.isRestricted) return next()
  const owner = caller.key ? `The API key "${caller.key.name}"` : 'Your account'
  const checkKind = ({ operation: { kind } }: ServedRoute) =>
    kind === undefined || access.allowsKind(kind)
      ? undefined
      : gatewayError('MODEL_NOT_ALLOWED', {
          message: `${owner} is not allowed to use models of kind "${kind}". Ask the operator of this gateway for access.`,
        })
  const kindError = checkKind(route)
  if (kindError) throw kindError
  const checkBody = createBodyRule()
  const createNameError = (name: string) =>
    gatewayError('MODEL_NOT_ALLOWED', {
      message: `${owner} is not allowed to use the model "${name}". Choose one from GET /v1/models, or ask the operator of this gateway for access.`,
    })
  const checkTarget: TargetRule = (request, target, path) => {
    const name = getRequestedName(path, request)
    return access.allowsTarget(name, target)
      ? (checkKind(request.call.endpoint) ?? checkBody(request.call)) // an earlier step may have changed the model, and with it the endpoint
      : createNameError(name)
  }
  const checkName: NameRule = (name, table) => (access.allowsModel(name, table) ? undefined : createNameError(name))
  log.targetRules.unshift(checkTarget)
  log.nameRules.push(checkName)
  try {
    return await next()
  } catch (error) {
    if (!isGatewayError(error, 'MODEL_NOT_FOUND')) throw error
    const { status, headers } = error // the original message may suggest model names that this caller must not learn
    throw gatewayError('MODEL_NOT_FOUND', {
      status,
      headers,
      message: `The model does not exist, or ${owner.charAt(0).toLowerCase()}${owner.slice(1)} is not allowed to use it. Choose one from GET /v1/models.`,
    })
  }
}
