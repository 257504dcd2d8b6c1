import { gatewayError } from '../errors.ts'
import { defaultAuth } from '../formats/formats.ts'
import type { UpstreamCall } from '../lib/exchange.ts'
import { type Target, targetName } from '../providers/target.ts'
import type { AuthStyle } from '../types.ts'

/** A request for an upstream, without address and credential. */
export interface Ask {
  /** The path below the provider's base URL: `/chat/completions`. */
  path: string
  /** With its leading `?`; empty when there is none. */
  query: string
  headers: Record<string, string>
  body: string | Uint8Array
}

/**
 * The call to one target, with its credential added to `ask.headers`. The host always comes from the connection or the catalog, never from
 * the client (security.md, rule 4).
 */
export function upstreamCall(target: Target, apiKey: string | undefined, ask: Ask): UpstreamCall {
  if (target.baseUrl === undefined) {
    throw gatewayError('UPSTREAM_INVALID', {
      message: `The connection to ${targetName(target)} has no base URL. Set providerSpecificData.baseUrl.`,
    })
  }
  const headers = Object.assign({}, ask.headers) // in half the time that the operator takes
  if (apiKey !== undefined) addCredential(headers, target.auth ?? defaultAuth(target.format), apiKey)
  return { method: 'POST', url: join(target.baseUrl, ask.path) + ask.query, headers, body: ask.body }
}

function addCredential(headers: Record<string, string>, style: AuthStyle, apiKey: string): void {
  if (style === 'bearer') headers.authorization = `Bearer ${apiKey}`
  else headers[style] = apiKey
}

/** A base URL may already name the endpoint, as messages-style ones do (`…/v1/messages`). */
function join(baseUrl: string, path: string): string {
  const isNamed = path.startsWith(MESSAGES) && baseUrl.endsWith(MESSAGES)
  return isNamed ? baseUrl + path.slice(MESSAGES.length) : baseUrl + path
}

const MESSAGES = '/messages'
