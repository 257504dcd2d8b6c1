import { betterAuth } from 'better-auth'
import { NeonDialect } from 'kysely-neon'
import { deriveSecret, sql } from './database.ts'

const { VERCEL_PROJECT_PRODUCTION_URL, VERCEL_BRANCH_URL, VERCEL_URL } = process.env
const hosts = [VERCEL_PROJECT_PRODUCTION_URL, VERCEL_BRANCH_URL, VERCEL_URL, 'localhost:3000']

export const auth = betterAuth({
  secret: deriveSecret('sessions'),
  baseURL: { allowedHosts: hosts.filter((host) => host !== undefined) },
  database: { dialect: new NeonDialect({ neon: sql }), type: 'postgres' },
  emailAndPassword: { enabled: true },
  user: { additionalFields: { isAdmin: { type: 'boolean', defaultValue: false, input: false } } },
  rateLimit: { storage: 'database' }, // limits sign-ins across all instances
  advanced: { database: { joins: true, validateSchema: false } }, // joins: reads a session with one query; validateSchema: the build has already created the tables
})
