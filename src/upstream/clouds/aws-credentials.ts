/** The keys of a user of AWS, or of a role for a while. */
export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

/** `<access key id>:<secret access key>`, perhaps with `:<session token>`; undefined when it is none, as a key of Bedrock's own. */
export function awsCredentials(apiKey: string): AwsCredentials | undefined {
  const [, accessKeyId, secretAccessKey, sessionToken] = SHAPE.exec(apiKey) ?? []
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
}

const SHAPE = /^([A-Z0-9]{16,128}):([A-Za-z0-9/+=]{16,128})(?::([A-Za-z0-9/+=]+))?$/
