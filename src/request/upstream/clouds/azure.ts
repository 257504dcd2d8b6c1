import type { UpstreamCall } from '../../../lib/exchange.ts'
import { replaceModel } from '../../../lib/json-edit.ts'
import { encodePathSegment, trimTrailing } from '../../../lib/urls.ts'
import type { ProviderTarget } from '../../../protocols/providers/target.ts'
import type { ProviderSpecificData } from '../../../types.ts'
import { createCall, type UpstreamRequest } from '../upstream-request.ts'

/**
 * Creates the call to `/openai/v1`, with the deployment in the body. With a dated `apiVersion`, the call goes to the older URL, with the deployment
 * in the path. API keys are sent in `api-key`, and Entra ID tokens as bearer tokens.
 */
export function createAzureCall(
  { path, headers, body }: UpstreamRequest,
  { target, data, apiKey }: { target: Pick<ProviderTarget, 'model'>; data: ProviderSpecificData; apiKey: string },
): UpstreamCall {
  const { apiVersion, deployment } = data
  if (ENTRA_TOKEN_PATTERN.test(apiKey)) headers.authorization = `Bearer ${apiKey}`
  else headers['api-key'] = apiKey
  const usesDatedVersion = apiVersion !== undefined && DATED_VERSION_PATTERN.test(apiVersion)
  // In the older URL, only chats are under a deployment.
  const pathPrefix = !usesDatedVersion
    ? '/v1'
    : usesDeploymentPath(path)
      ? `/deployments/${encodePathSegment(deployment ?? target.model)}`
      : ''
  const isForm = headers['content-type']?.startsWith('multipart/') // forms already contain the deployment
  const query = apiVersion ? `?api-version=${encodeURIComponent(apiVersion)}` : ''
  return createCall(`${getBaseUrl(data)}/openai`, {
    path: pathPrefix + path,
    query,
    headers,
    ...(body !== undefined && { body: deployment && !isForm ? replaceModel(body, deployment) : body }),
  })
}

const usesDeploymentPath = (path: string) => !path.startsWith('/responses')

/** Returns the resource's URL, without the path that people often paste along with it. */
function getBaseUrl({ baseUrl, resource }: ProviderSpecificData): string {
  const trimmedUrl = trimTrailing(baseUrl?.trim() ?? '', '/')
  return trimmedUrl ? trimmedUrl.replace(/\/openai(?:\/.*|$)/s, '') : `https://${resource}.openai.azure.com`
}

const DATED_VERSION_PATTERN = /^\d{4}-/

/** A JSON Web Token. */
const ENTRA_TOKEN_PATTERN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/
