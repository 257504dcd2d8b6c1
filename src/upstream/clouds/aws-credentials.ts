/** The access keys of an AWS user, or temporary ones of a role. */
export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

/**
 * Parses `<access key id>:<secret access key>`, optionally with `:<session token>`; `undefined` for any other text, such as a Bedrock API
 * key.
 */
export function awsCredentials(apiKey: string): AwsCredentials | undefined {
  const [, accessKeyId, secretAccessKey, sessionToken] = SHAPE.exec(apiKey) ?? []
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
}

const SHAPE = /^([A-Z0-9]{16,128}):([A-Za-z0-9/+=]{16,128})(?::([A-Za-z0-9/+=]+))?$/
