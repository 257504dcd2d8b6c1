import { type ImportPlan, Reference } from './plan.ts'

/* Cloud credentials. Their fields are the same in LiteLLM and Portkey. */

/** What a variable for Vertex AI contains. */
export const SERVICE_ACCOUNT_DESCRIPTION =
  'the JSON key of a service account (the contents of the key file, not its path)'

const ACCESS_KEY_DESCRIPTION = 'an AWS access key ID'
const SECRET_KEY_DESCRIPTION = 'an AWS secret access key'
const SESSION_TOKEN_DESCRIPTION = 'an AWS session token'

/**
 * Joins AWS access keys to one credential, separated by colons. `readReference` reads a field of the other program's file. A missing key or secret is read
 * from the usual AWS variable.
 */
export function joinAccessKeys(
  readReference: (name: string, holds: string) => Reference | undefined,
  plan: ImportPlan,
): Reference {
  const id =
    readReference('aws_access_key_id', ACCESS_KEY_DESCRIPTION) ??
    plan.readVariable('AWS_ACCESS_KEY_ID', ACCESS_KEY_DESCRIPTION)
  const secret =
    readReference('aws_secret_access_key', SECRET_KEY_DESCRIPTION) ??
    plan.readVariable('AWS_SECRET_ACCESS_KEY', SECRET_KEY_DESCRIPTION)
  const session = readReference('aws_session_token', SESSION_TOKEN_DESCRIPTION)
  const names = [id, secret, ...(session ? [session] : [])].flatMap((part) => part.names)
  return new Reference(['', ...names.slice(1).map(() => ':'), ''], names)
}
