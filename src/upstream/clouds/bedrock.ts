import type { UpstreamCall } from '../../lib/exchange.ts'
import { withoutTrailing } from '../../lib/trim-end.ts'
import type { ProviderSpecificData } from '../../types.ts'
import { type Ask, callBelow } from '../request.ts'
import { awsCredentials } from './aws-credentials.ts'
import type { CloudRules } from './rules.ts'
import { signV4 } from './sigv4.ts'

/** AWS Bedrock: a region, and a Bedrock API key or the access keys of a user or role. */
export const bedrockRules: CloudRules = {
  settings: ['region'],
  settingsProblem({ region, format }) {
    if (format !== undefined) return 'Bedrock is asked through Converse; leave "providerSpecificData.format" out.'
    return region ? undefined : 'Bedrock needs "providerSpecificData.region", such as "us-east-1".'
  },
  credentialProblem: (apiKey) =>
    ACCESS_KEY.test(apiKey) && !awsCredentials(apiKey)
      ? 'Access keys of AWS are sent as "<access key id>:<secret access key>", with ":<session token>" behind them if they have one.'
      : undefined,
}

/** The call to the region's address, or the connection's. A Bedrock API key is a bearer token; with access keys the call is signed. */
export async function bedrockCall(
  ask: Ask,
  { data, apiKey, now }: { data: ProviderSpecificData; apiKey: string; now: number },
): Promise<UpstreamCall> {
  const { baseUrl, region = '' } = data
  const call = callBelow(withoutTrailing(baseUrl?.trim() ?? '', '/') || address(region), ask)
  const { headers, body = '' } = call
  const credentials = awsCredentials(apiKey)
  if (!credentials) return { ...call, headers: { ...headers, authorization: `Bearer ${apiKey}` } }
  // Only what nobody on the way may change is signed.
  const { host, pathname, search } = new URL(call.url)
  const signed = { method: call.method, host, pathname, search, body, headers: only(headers, 'content-type') }
  return {
    ...call,
    headers: { ...headers, ...(await signV4(signed, { ...credentials, region, service: 'bedrock', now })) },
  }
}

const address = (region: string): string =>
  `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`

const only = (headers: Readonly<Record<string, string>>, name: string): Record<string, string> =>
  headers[name] === undefined ? {} : { [name]: headers[name] }

/** The prefixes of access key ids: of users, and of temporary credentials. */
const ACCESS_KEY = /^A[KS]IA/
