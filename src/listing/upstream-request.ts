import type { UpstreamCall } from '../lib/exchange.ts'
import { compatibleFormat } from '../providers/compatible.ts'

/** The request for a compatible provider's models (spec.md, Upstream model fetch); `undefined` without key or address. */
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

/** The models' address beside that of the messages endpoint, which users often give. */
const messagesModelsUrl = (url: string): string => url.replace(/\/messages(?:\/models)?$/, '/models')
