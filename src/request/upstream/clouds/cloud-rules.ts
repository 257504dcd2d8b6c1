import { parseAwsCredentials } from '../../../lib/credential-shapes.ts'
import { isObject, tryParseJson } from '../../../lib/json.ts'
import type { Cloud, ProviderSpecificData } from '../../../types.ts'

/** The `providerSpecificData` fields for clouds. */
export type CloudSetting = 'resource' | 'apiVersion' | 'deployment' | 'region' | 'project'

/** A cloud's requirements for a connection. Problems are complete sentences without secrets. */
export interface CloudRules {
  /** The supported settings. */
  settings: readonly CloudSetting[]
  /** The problem with the settings, if any. Some credentials make settings unnecessary. */
  findSettingsProblem(data: ProviderSpecificData, apiKey: string | undefined): string | undefined
  /** Whether the credential may be the contents of a JSON file. */
  acceptsJson?: true
  findCredentialProblem(apiKey: string): string | undefined
}

/** Azure OpenAI: the user has a resource, in which each model is a deployment with a user-chosen name. */
const azureRules: CloudRules = {
  settings: ['resource', 'apiVersion', 'deployment'],
  findSettingsProblem({ resource, baseUrl, format }) {
    if (format !== undefined && !format.startsWith('openai-'))
      return 'Azure OpenAI only supports the formats "openai-chat" and "openai-responses".'
    if (resource || baseUrl) return undefined
    return 'Azure OpenAI needs "providerSpecificData.resource" (the name in https://<resource>.openai.azure.com) or "providerSpecificData.baseUrl".'
  },
  findCredentialProblem: () => undefined,
}

/** AWS Bedrock: a region, and a Bedrock API key or a user's or role's access keys. */
const bedrockRules: CloudRules = {
  settings: ['region'],
  findSettingsProblem({ region, format }) {
    if (format !== undefined) return 'Bedrock is called through the Converse API. Remove "providerSpecificData.format".'
    return region ? undefined : 'Bedrock needs "providerSpecificData.region", such as "us-east-1".'
  },
  findCredentialProblem: (apiKey) =>
    ACCESS_KEY_PATTERN.test(apiKey) && !parseAwsCredentials(apiKey)
      ? 'Give AWS access keys as "<access key id>:<secret access key>", followed by ":<session token>" if there is one.'
      : undefined,
}

/** The prefixes of access key IDs, for users and for temporary credentials. */
const ACCESS_KEY_PATTERN = /^A[KS]IA/

/** Google Vertex AI: a project, and a service account's key file, an access token, or a Vertex API key. */
const vertexRules: CloudRules = {
  settings: ['project', 'region'],
  acceptsJson: true,
  findSettingsProblem({ project, format }, apiKey) {
    if (format !== undefined)
      return 'Vertex AI is called in each model\'s own format. Remove "providerSpecificData.format".'
    if (project || apiKey === undefined || API_KEY_PATTERN.test(apiKey) || parseServiceAccount(apiKey)?.project)
      return undefined
    return 'Vertex AI needs "providerSpecificData.project" (a Google Cloud project ID) unless the credential contains it.'
  },
  findCredentialProblem(apiKey) {
    if (PATH_PATTERN.test(apiKey)) return '"apiKey" is a file path. Set it to the contents of the key file instead.'
    return apiKey.startsWith('{') && !parseServiceAccount(apiKey)
      ? 'If "apiKey" is JSON, it must be a service account key file.'
      : undefined
  },
}

/** The beginnings and endings of paths to key files, which variables such as `GOOGLE_APPLICATION_CREDENTIALS` contain. */
const PATH_PATTERN = /^(?:[./~]|[A-Za-z]:[\\/])|\.json$/i

/** The prefixes of Google API keys. Access tokens have other prefixes. */
export const API_KEY_PATTERN = /^(?:AIza|AQ\.)/

/** A Google Cloud service account, from its key file. */
export interface ServiceAccount {
  email: string
  /** The private key: PKCS #8 in PEM. */
  privateKey: string
  keyId?: string
  project?: string
}

/** Parses a key file. Returns `undefined` for any other text. */
export function parseServiceAccount(text: string): ServiceAccount | undefined {
  const file = tryParseJson(text)
  if (!isObject(file)) return undefined
  const { client_email: email, private_key: privateKey, private_key_id: keyId, project_id: project } = file
  if (typeof email !== 'string' || typeof privateKey !== 'string' || !PEM_PATTERN.test(privateKey)) return undefined
  return {
    email,
    privateKey,
    ...(typeof keyId === 'string' && { keyId }),
    ...(typeof project === 'string' && PROJECT_PATTERN.test(project) && { project }),
  }
}

const PEM_PATTERN = /^\s*-----BEGIN PRIVATE KEY-----[\sA-Za-z0-9+/=]+-----END PRIVATE KEY-----\s*$/

/** The format of a project ID, which becomes part of a URL. */
const PROJECT_PATTERN = /^[a-z0-9][a-z0-9.:-]*$/

/** Each cloud's rules. */
export const cloudRules: Readonly<Record<Cloud, CloudRules>> = {
  azure: azureRules,
  bedrock: bedrockRules,
  vertex: vertexRules,
}

/** The settings of all clouds. */
export const cloudSettings: readonly CloudSetting[] = [
  ...new Set(Object.values(cloudRules).flatMap(({ settings }) => settings)),
]
