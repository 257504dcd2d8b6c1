import { AwsV4Signer } from 'aws4fetch'
import { awsCredentials } from '../../lib/credential-shapes.ts'
import type { UpstreamCall } from '../../lib/exchange.ts'
import { withoutTrailing } from '../../lib/urls.ts'
import type { ProviderSpecificData } from '../../types.ts'
import { callBelow, type UpstreamRequest } from '../request.ts'

/** The call to the region's address, or the connection's. A Bedrock API key is a bearer token; with access keys the call is signed. */
export async function bedrockCall(
  request: UpstreamRequest,
  { data, apiKey, now }: { data: ProviderSpecificData; apiKey: string; now: number },
): Promise<UpstreamCall> {
  const { baseUrl, region = '' } = data
  const own = withoutTrailing(baseUrl?.trim() ?? '', '/')
  const call = callBelow(own ? serviceAt(own, request.service) : address(region, request.service), request)
  const { headers, body = '' } = call
  const credentials = awsCredentials(apiKey)
  if (!credentials) return { ...call, headers: { ...headers, authorization: `Bearer ${apiKey}` } }
  const signer = new AwsV4Signer({
    ...credentials,
    method: call.method,
    url: call.url,
    headers: only(headers, 'content-type'), // proxies may change the others
    allHeaders: true,
    body: typeof body === 'string' ? body : new Uint8Array(body), // the copy satisfies the type, which excludes shared memory
    region,
    service: 'bedrock',
    datetime: new Date(now).toISOString().replace(/[-:]|\.\d+/g, ''),
  })
  const signed = await signer.sign()
  return { ...call, headers: { ...headers, ...Object.fromEntries(signed.headers) } }
}

const address = (region: string, service = 'bedrock-runtime'): string =>
  `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`

/** The address of the connection, for another service than that of chat where it is one of AWS. */
const serviceAt = (address: string, service = 'bedrock-runtime'): string =>
  address.replace(/^https:\/\/bedrock-runtime(?=\.[\w.-]+\.amazonaws\.com)/, `https://${service}`)

const only = (headers: Readonly<Record<string, string>>, name: string): Record<string, string> =>
  headers[name] === undefined ? {} : { [name]: headers[name] }
