import { awsCredentials } from '../../lib/credential-shapes.ts'
import { isObject, tryParseJson } from '../../lib/json.ts'
import type { Cloud, ProviderSpecificData } from '../../types.ts'

/** The fields of `providerSpecificData` for clouds. */
export type CloudSetting = 'resource' | 'apiVersion' | 'deployment' | 'region' | 'project'

/** What a cloud requires of a connection. Problems are whole sentences, without any secret. */
export interface CloudRules {
  /** The settings that it accepts. */
  settings: readonly CloudSetting[]
  /** The problem with the settings, if any; some credentials make settings unnecessary. */
  settingsProblem(data: ProviderSpecificData, apiKey: string | undefined): string | undefined
  /** May the credential be the text of a JSON file? */
  takesJson?: true
  credentialProblem(apiKey: string): string | undefined
}

/** Azure OpenAI: the user has a resource, in which each model is a deployment with a name of the user's choice. */
const azureRules: CloudRules = {
  settings: ['resource', 'apiVersion', 'deployment'],
  settingsProblem({ resource, baseUrl, format }) {
    if (format !== undefined && !format.startsWith('openai-'))
      return 'Azure OpenAI speaks the formats "openai-chat" and "openai-responses".'
    if (resource || baseUrl) return undefined
    return 'Azure OpenAI needs "providerSpecificData.resource", the name in https://<resource>.openai.azure.com, or "providerSpecificData.baseUrl".'
  },
  credentialProblem: () => undefined,
}

/** AWS Bedrock: a region, and a Bedrock API key or the access keys of a user or role. */
const bedrockRules: CloudRules = {
  settings: ['region'],
  settingsProblem({ region, format }) {
    if (format !== undefined) return 'Bedrock is asked through Converse; leave "providerSpecificData.format" out.'
    return region ? undefined : 'Bedrock needs "providerSpecificData.region", such as "us-east-1".'
  },
  credentialProblem: (apiKey) =>
    ACCESS_KEY.test(apiKey) && !awsCredentials(apiKey)
      ? 'Access keys of AWS are sent as "<access key id>:<secret access key>", followed by ":<session token>" if they have one.'
      : undefined,
}

/** The prefixes of access key ids: of users, and of temporary credentials. */
const ACCESS_KEY = /^A[KS]IA/

/** Google Vertex AI: a project, and the key file of a service account, an access token, or a Vertex API key. */
const vertexRules: CloudRules = {
  settings: ['project', 'region'],
  takesJson: true,
  settingsProblem({ project, format }, apiKey) {
    if (format !== undefined)
      return 'Vertex AI is asked in the format of each model; leave "providerSpecificData.format" out.'
    if (project || apiKey === undefined || API_KEY.test(apiKey) || serviceAccount(apiKey)?.project) return undefined
    return 'Vertex AI needs "providerSpecificData.project", the id of a project of Google Cloud, unless the credential has it.'
  },
  credentialProblem(apiKey) {
    if (PATH.test(apiKey)) return 'The path of a key file is no credential: give its content as "apiKey".'
    return apiKey.startsWith('{') && !serviceAccount(apiKey)
      ? 'As JSON, "apiKey" must be the key file of a service account.'
      : undefined
  },
}

/** How the path of a key file begins or ends, which variables such as `GOOGLE_APPLICATION_CREDENTIALS` hold. */
const PATH = /^(?:[./~]|[A-Za-z]:[\\/])|\.json$/i

/** The prefixes of Google API keys; access tokens have others. */
export const API_KEY = /^(?:AIza|AQ\.)/

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

/** The rules of every cloud. */
export const cloudRules: Readonly<Record<Cloud, CloudRules>> = {
  azure: azureRules,
  bedrock: bedrockRules,
  vertex: vertexRules,
}

/** The settings of all clouds. */
export const cloudSettings: readonly CloudSetting[] = [
  ...new Set(Object.values(cloudRules).flatMap(({ settings }) => settings)),
]
