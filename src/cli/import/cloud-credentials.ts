import { type ImportPlan, Reference } from './plan.ts'

/* The credentials of clouds, which LiteLLM and Portkey have in the same members. */

/** What a variable for Vertex AI holds. */
export const SERVICE_ACCOUNT = 'the JSON key of a service account (the contents of the key file, not its path)'

const ACCESS_KEY = 'an AWS access key ID'
const SECRET = 'an AWS secret access key'
const SESSION = 'an AWS session token'

/**
 * Access keys of AWS as one credential, with colons between its parts. `given` reads a member of the other program's file. AWS's usual variables take the
 * place of a key and a secret that the file does not have.
 */
export function accessKeys(given: (name: string, holds: string) => Reference | undefined, plan: ImportPlan): Reference {
  const id = given('aws_access_key_id', ACCESS_KEY) ?? plan.read('AWS_ACCESS_KEY_ID', ACCESS_KEY)
  const secret = given('aws_secret_access_key', SECRET) ?? plan.read('AWS_SECRET_ACCESS_KEY', SECRET)
  const session = given('aws_session_token', SESSION)
  const names = [id, secret, ...(session ? [session] : [])].flatMap((part) => part.names)
  return new Reference(['', ...names.slice(1).map(() => ':'), ''], names)
}
