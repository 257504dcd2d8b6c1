import { hkdfSync } from 'node:crypto'
import { neon } from '@neondatabase/serverless'

const { DATABASE_URL, APP_SECRET } = process.env
if (!DATABASE_URL) throw new Error('Set DATABASE_URL to the connection string of a Neon database.')

/** Sends each query as one HTTP request, so nothing stays open between requests. */
export const sql = neon(DATABASE_URL)

/** Returns a secret for one purpose, derived from APP_SECRET or, by default, from the database password. */
export function deriveSecret(purpose: string): string {
  const root = APP_SECRET ?? decodeURIComponent(new URL(DATABASE_URL ?? '').password)
  if (root.length < 16) throw new Error('Set APP_SECRET to a random string: the password of the database is too short.')
  return Buffer.from(hkdfSync('sha256', root, '', purpose, 32)).toString('base64url')
}
