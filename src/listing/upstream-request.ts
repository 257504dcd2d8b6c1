import type { UpstreamCall } from '../lib/exchange.ts'
import { compatibleFormat } from '../providers/compatible.ts'

/** How a compatible provider is asked for its models (spec.md, Upstream model fetch). `undefined` without key or address. */
export function upstreamRequest(
  provider: string,
  baseUrl: unknown,
  apiKey: string | undefined,
): UpstreamCall | undefined {
  const base = typeof baseUrl === 'string' ? baseUrl.trim().replace(/\/$/, '') : ''
  if (!base || !apiKey) return undefined
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
  if (compatibleFormat(provider) !== 'anthropic-messages') return { url: `${base}/models`, method: 'GET', headers }
  return {
    url: messagesModelsUrl(`${base}/models`),
    method: 'GET',
    headers: { ...headers, 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' },
  }
}

/** Users give the address of the messages endpoint; its models are beside it. */
const messagesModelsUrl = (url: string): string => url.replace(/\/messages(?:\/models)?$/, '/models')
