import { gatewayError, isGatewayError } from '../errors.ts'
import type { Endpoint } from '../formats/format.ts'
import type { Reply } from '../lib/exchange.ts'
import type { NameRule, ServedRequest, TargetRule } from '../pipeline/steps.ts'
import { type Access, askedName } from '../routing/allowed-models.ts'
import { createBodyRule } from './body-rule.ts'

/**
 * Serves a request with only those targets that its key may use. Rejects with `MODEL_NOT_ALLOWED` if there are none, or if the key may not use models
 * of the endpoint's kind.
 */
export async function withinAccess(
  { key, endpoint, log }: ServedRequest,
  access: Access,
  serve: () => Promise<Reply>,
): Promise<Reply> {
  const whose = `The API key "${key?.name}"`
  const refusalOfKind = ({ operation: { kind } }: Endpoint) =>
    access.allowsKind(kind)
      ? undefined
      : gatewayError('MODEL_NOT_ALLOWED', {
          message: `${whose} may not use models of the kind "${kind}". Ask the operator of this gateway for a key that may.`,
        })
  const refusal = refusalOfKind(endpoint)
  if (refusal) throw refusal
  const refusalOfBody = createBodyRule()
  const refusalOf = (name: string) =>
    gatewayError('MODEL_NOT_ALLOWED', {
      message: `${whose} may not use the model "${name}". GET /v1/models lists those that it may use; ask the operator of this gateway for others.`,
    })
  const targetRule: TargetRule = (request, target, route) => {
    const name = askedName(route, request)
    return access.allowsTarget(name, target)
      ? (refusalOfKind(request.call.endpoint) ?? refusalOfBody(request.call)) // by now its endpoint may be that of its model's kind
      : refusalOf(name)
  }
  const nameRule: NameRule = (name, table) => (access.allowsModel(name, table) ? undefined : refusalOf(name))
  log.targetRule = targetRule
  log.nameRule = nameRule
  try {
    return await serve()
  } catch (thrown) {
    if (!isGatewayError(thrown, 'MODEL_NOT_FOUND')) throw thrown
    const { status, headers } = thrown // its message may suggest models with similar names, which this key must not learn of
    throw gatewayError('MODEL_NOT_FOUND', {
      status,
      headers,
      message: `There is no such model, or the API key "${key?.name}" may not use it. GET /v1/models lists those that it may use.`,
    })
  }
}
