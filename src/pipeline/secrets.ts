import type { UpstreamCall } from '../lib/exchange.ts'

/** The credentials that a call carries: nobody but the provider may read them, whatever it answers. */
export function secretsOf({ headers }: UpstreamCall): readonly string[] {
  const secrets: string[] = []
  for (const name of CREDENTIALS) {
    const secret = headers[name]?.replace('Bearer ', '')
    if (secret !== undefined && isSecret(secret)) secrets.push(secret)
  }
  return secrets
}

const CREDENTIALS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'x-amz-security-token']

/** Is it long enough to be one? */
export const isSecret = (credential: string): boolean => credential.length >= SHORTEST_SECRET

/** Shorter ones are placeholders for providers that want none. */
const SHORTEST_SECRET = 8
