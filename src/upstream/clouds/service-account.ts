import { isObject, tryParseJson } from '../../lib/json.ts'

/** A service account of Google Cloud, from its key file. */
export interface ServiceAccount {
  email: string
  /** PKCS #8, in PEM. */
  privateKey: string
  keyId?: string
  project?: string
}

/** Parses a key file; `undefined` for any other text. */
export function serviceAccount(text: string): ServiceAccount | undefined {
  const file = tryParseJson(text)
  if (!isObject(file)) return undefined
  const { client_email: email, private_key: privateKey, private_key_id: keyId, project_id: project } = file
  if (typeof email !== 'string' || typeof privateKey !== 'string' || !PEM.test(privateKey)) return undefined
  return {
    email,
    privateKey,
    ...(typeof keyId === 'string' && { keyId }),
    ...(typeof project === 'string' && PROJECT.test(project) && { project }),
  }
}

const PEM = /^\s*-----BEGIN PRIVATE KEY-----[\sA-Za-z0-9+/=]+-----END PRIVATE KEY-----\s*$/

/** The form of a project id, which becomes part of an address. */
const PROJECT = /^[a-z0-9][a-z0-9.:-]*$/
