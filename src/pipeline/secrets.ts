import type { UpstreamCall } from '../lib/exchange.ts'

/** The credentials in a call's headers, which only the provider may see. */
export function secretsOf({ headers }: UpstreamCall): readonly string[] {
  const secrets: string[] = []
  for (const name of CREDENTIALS) {
    const secret = headers[name]?.replace('Bearer ', '')
    if (secret !== undefined && isSecret(secret)) secrets.push(secret)
  }
  return secrets
}

const CREDENTIALS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'x-amz-security-token']

/** Is it long enough to be a credential? */
export const isSecret = (credential: string): boolean => credential.length >= SHORTEST_SECRET

/** Shorter ones are placeholders for providers that need none. */
export const SHORTEST_SECRET = 8
