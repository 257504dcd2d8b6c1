import type { UpstreamCall } from '../../lib/exchange.ts'
import { withModel } from '../../lib/json-scan.ts'
import { pathSegment, withoutTrailing } from '../../lib/urls.ts'
import type { ProviderTarget } from '../../providers/target.ts'
import type { ProviderSpecificData } from '../../types.ts'
import { callBelow, type UpstreamRequest } from '../request.ts'

/**
 * The call to `/openai/v1`, where the body names the deployment; with a dated `apiVersion`, to the older address, where the path does. API
 * keys go into `api-key`, Entra ID tokens are bearer tokens.
 */
export function azureCall(
  { path, headers, body }: UpstreamRequest,
  { target, data, apiKey }: { target: Pick<ProviderTarget, 'model'>; data: ProviderSpecificData; apiKey: string },
): UpstreamCall {
  const { apiVersion, deployment } = data
  if (TOKEN.test(apiKey)) headers.authorization = `Bearer ${apiKey}`
  else headers['api-key'] = apiKey
  const isOlder = apiVersion !== undefined && DATED.test(apiVersion)
  // With the older address only chats are below a deployment.
  const place = !isOlder ? '/v1' : isChat(path) ? `/deployments/${pathSegment(deployment ?? target.model)}` : ''
  const isForm = headers['content-type']?.startsWith('multipart/') // which names its deployment already
  const query = apiVersion ? `?api-version=${encodeURIComponent(apiVersion)}` : ''
  return callBelow(`${address(data)}/openai`, {
    path: place + path,
    query,
    headers,
    ...(body !== undefined && { body: deployment && !isForm ? withModel(body, deployment) : body }),
  })
}

const isChat = (path: string) => !path.startsWith('/responses')

/** The resource's address, without the path that people often paste with it. */
function address({ baseUrl, resource }: ProviderSpecificData): string {
  const given = withoutTrailing(baseUrl?.trim() ?? '', '/')
  return given ? given.replace(/\/openai(?:\/.*|$)/s, '') : `https://${resource}.openai.azure.com`
}

const DATED = /^\d{4}-/

/** A JSON Web Token. */
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/
