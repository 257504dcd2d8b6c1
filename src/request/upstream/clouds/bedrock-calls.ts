import { AwsV4Signer } from 'aws4fetch'
import { parseAwsCredentials } from '../../../lib/credential-shapes.ts'
import type { UpstreamCall } from '../../../lib/exchange.ts'
import { trimTrailing } from '../../../lib/urls.ts'
import type { ProviderSpecificData } from '../../../types.ts'
import { createCall, type UpstreamRequest } from '../upstream-request.ts'

/** Creates the call to the region's or the connection's URL. A Bedrock API key is sent as a bearer token; with access keys, the call is signed. */
export async function createBedrockCall(
  request: UpstreamRequest,
  { data, apiKey, now }: { data: ProviderSpecificData; apiKey: string; now: number },
): Promise<UpstreamCall> {
  const { baseUrl, region = '' } = data
  const trimmedUrl = trimTrailing(baseUrl?.trim() ?? '', '/')
  const call = createCall(
    trimmedUrl ? replaceService(trimmedUrl, request.service) : getRegionUrl(region, request.service),
    request,
  )
  const { headers, body = '' } = call
  const credentials = parseAwsCredentials(apiKey)
  if (!credentials) return { ...call, headers: { ...headers, authorization: `Bearer ${apiKey}` } }
  const signer = new AwsV4Signer({
    ...credentials,
    method: call.method,
    url: call.url,
    headers: pickHeader(headers, 'content-type'), // proxies may change other headers, so only this one is signed
    allHeaders: true,
    body: typeof body === 'string' ? body : new Uint8Array(body), // the copy satisfies the type, which excludes shared memory
    region,
    service: 'bedrock',
    datetime: new Date(now).toISOString().replace(/[-:]|\.\d+/g, ''),
  })
  const signedRequest = await signer.sign()
  return { ...call, headers: { ...headers, ...Object.fromEntries(signedRequest.headers) } }
}

const getRegionUrl = (region: string, service = 'bedrock-runtime'): string =>
  `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`

/** Replaces the service in a connection's URL if it is an AWS URL. */
const replaceService = (url: string, service = 'bedrock-runtime'): string =>
  url.replace(/^https:\/\/bedrock-runtime(?=\.[\w.-]+\.amazonaws\.com)/, `https://${service}`)

const pickHeader = (headers: Readonly<Record<string, string>>, name: string): Record<string, string> =>
  headers[name] === undefined ? {} : { [name]: headers[name] }
