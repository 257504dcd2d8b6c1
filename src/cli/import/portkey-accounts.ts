import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { createUsageProblem } from '../command-line.ts'
import { findProviderByUrl, getServerName, planBaseUrl } from './addresses.ts'
import { joinAccessKeys, SERVICE_ACCOUNT_DESCRIPTION } from './cloud-credentials.ts'
import { isEmpty, readString, splitWords, toList, toObject } from './field-values.ts'
import type { ImportPlan, PlannedAccount, PlannedValue, Reference } from './plan.ts'
import { toKeyVariable, toSlug, toVariableName } from './plan-names.ts'

/* Reads the accounts of Portkey's targets: provider, URL, and key. */

/** Signalbox's names for providers that Portkey calls something else. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  'azure-openai': 'azure',
  'vertex-ai': 'vertex',
  'mistral-ai': 'mistral',
  'together-ai': 'together',
  'fireworks-ai': 'fireworks',
  'perplexity-ai': 'perplexity-agent',
  'x-ai': 'xai',
  'novita-ai': 'novita',
  dashscope: 'alibaba',
  'z-ai': 'zai',
  zhipu: 'zai',
  nvidia: 'nvidia-nim',
  gemini: 'google',
}
const SHARED_PROVIDER_NAMES = splitWords(`
  openai anthropic bedrock google groq deepseek openrouter cohere cerebras ollama huggingface nebius sambanova siliconflow deepinfra moonshot
  voyage jina minimax mistral xai together fireworks azure vertex perplexity-agent
`)
/** All provider names, longest first, because one can be the start of another. */
const ALL_PROVIDER_NAMES = [...SHARED_PROVIDER_NAMES, ...Object.keys(PROVIDER_NAMES)].sort(
  (a, b) => b.length - a.length,
)

/** Returns Signalbox's name for a Portkey provider, or `undefined` if Signalbox doesn't have it. */
const findProvider = (name: string): string | undefined =>
  getEntry(PROVIDER_NAMES, name) ?? (SHARED_PROVIDER_NAMES.includes(name) ? name : undefined)

/** The fields of a target with its provider, URL, and key. */
export const ACCOUNT_FIELDS = splitWords(`
  provider api_key virtual_key custom_host resource_name deployment_id api_version aws_access_key_id aws_secret_access_key aws_session_token
  aws_region vertex_project_id vertex_region vertex_service_account_json huggingface_base_url
`)

/** Lists the `ACCOUNT_FIELDS` that apply to the target's account; the others have no effect. `provider` is Signalbox's name for the provider. */
export function listAccountFields(target: JsonObject, provider: string): readonly string[] {
  const has = (name: string) => !isEmpty(target[name])
  const fieldsByProvider: Readonly<Record<string, readonly string[]>> = {
    azure: ['api_key', 'api_version', has('custom_host') ? 'custom_host' : 'resource_name'],
    bedrock: [
      'aws_region',
      ...(has('aws_access_key_id') || !has('api_key')
        ? splitWords('aws_access_key_id aws_secret_access_key aws_session_token')
        : ['api_key']),
    ],
    vertex: [
      ...splitWords('vertex_project_id vertex_region'),
      has('vertex_service_account_json') ? 'vertex_service_account_json' : 'api_key',
    ],
  }
  return [
    'provider',
    'virtual_key',
    'deployment_id',
    ...(getEntry(fieldsByProvider, provider) ?? ['api_key', 'custom_host']),
  ]
}

/** Reads the known names from the integrations in a self-hosted gateway's `conf.json`, and from the user's `name=provider` arguments. */
export function readKnownNames(config: JsonObject, providerArguments: readonly string[]): KnownNames {
  const integrations = toList(config.integrations).map(toObject)
  return new Map([
    ...integrations.flatMap(({ slug: name, provider, credentials }) =>
      readString(name) === undefined ? [] : [[readString(name) ?? '', { ...toObject(credentials), provider }] as const],
    ),
    ...providerArguments.map((argument) => {
      const [name = '', provider] = argument.split('=', 2).map((part) => part.trim().replace(/^@/, ''))
      if (!provider)
        throw createUsageProblem(
          `--provider needs a name from the config and its provider, for example: --provider ${name || 'house'}=openai`,
        )
      return [name, { provider }] as const
    }),
  ])
}

/** Lists the variables that a config reads. They must not be used for its plain-text keys. */
export function listVariables(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listVariables)
  if (isObject(value)) return Object.values(value).flatMap(listVariables)
  const found = parseVariable(value)
  return found === undefined ? [] : [found]
}

/** The known names in Portkey's own store, with their providers, and with their credentials if the file contains them. */
export type KnownNames = ReadonlyMap<string, JsonObject>

/** Finds a target's provider. `storedName` is the name of the target's key in Portkey's own store, if the file doesn't contain the key. */
function findTargetProvider(target: JsonObject, knownNames: KnownNames) {
  const providerName = readString(target.provider)
  const stored = readString(target.virtual_key) ?? (providerName?.startsWith('@') ? providerName.slice(1) : undefined)
  if (stored === undefined) return { fields: target, named: providerName, storedName: undefined }
  const entry = knownNames.get(stored) ?? {}
  const detectedName = ALL_PROVIDER_NAMES.find(
    (name) => toSlug(stored) === name || toSlug(stored).startsWith(`${name}-`),
  )
  return {
    fields: { ...target, ...entry },
    named: readString(entry.provider) ?? detectedName,
    storedName: readString(entry.api_key) === undefined ? stored : undefined,
  }
}

/** Plans a target's account, or returns why it can't have one. */
export function planAccount(
  target: JsonObject,
  place: string,
  { known: knownNames, plan }: { known: KnownNames; plan: ImportPlan },
): PlannedAccount | string {
  const { fields, named, storedName } = findTargetProvider(target, knownNames)
  const host = readString(fields.custom_host)?.replace(
    /\{\{\s*([A-Za-z_]\w*)\s*\}\}/g,
    (_, name: string) => `\${${name}}`,
  )
  const urlProvider = named === 'openai' ? findProviderByUrl(host) : undefined
  const provider = urlProvider ?? findProvider(named ?? '')
  if (named === undefined && storedName === undefined) return 'Has no provider.'
  if (provider === undefined && host === undefined)
    return named === undefined
      ? `"${storedName}" is a name in Portkey's store that doesn't reveal the provider. Run the import again with its provider, for example: --provider ${storedName}=openai`
      : `Signalbox has no provider "${named}", and the target has no custom_host.`
  const isSelfHosted =
    provider === undefined ||
    (urlProvider === undefined && host !== undefined && !NAME_KEEPING_PROVIDERS.includes(provider))
  const preferredName = isSelfHosted ? nameServer(host, named ?? storedName) : provider
  if (storedName !== undefined)
    plan.reportMapped(
      `${place}: ${storedName}`,
      `${isSelfHosted ? 'the server at its custom_host' : `provider ${provider}`}; its key is in Portkey's store`,
    )
  const literal = readString(fields.api_key)
  const key =
    literal === undefined ? undefined : readSecret(literal, `${preferredName}_API_KEY`, { holds: 'an API key', plan })
  const defaultName = storedName ?? (isSelfHosted || provider === 'ollama' ? undefined : provider)
  const holds = provider === 'vertex' ? SERVICE_ACCOUNT_DESCRIPTION : 'an API key'
  const apiKey = key ?? (defaultName === undefined ? undefined : plan.readVariable(toKeyVariable(defaultName), holds))
  const baseUrl =
    host === undefined || urlProvider !== undefined
      ? undefined
      : planBaseUrl(plan, host, { wish: preferredName, end: provider === 'ollama' ? '/v1' : '' })
  if (isSelfHosted) {
    const format = provider === 'anthropic' ? 'anthropic' : 'openai'
    return { provider: `${format}-compatible-${preferredName}`, id: preferredName, apiKey, data: { baseUrl } }
  }
  if (provider === 'azure')
    return planAzureAccount(fields, { apiKey, baseUrl: baseUrl ?? planAzureUrl(fields, storedName, plan), plan })
  if (provider === 'bedrock') return planBedrockAccount(fields, { key, storedName: storedName, plan })
  if (provider === 'vertex') return planVertexAccount(fields, apiKey, plan)
  return { provider, apiKey, data: { baseUrl } }
}

/** Providers that keep their name even if the user sets another URL. */
const NAME_KEEPING_PROVIDERS = ['ollama', 'azure', 'bedrock', 'vertex']

const nameServer = (host: string | undefined, other: string | undefined): string =>
  host !== undefined && parseVariable(host) === undefined && URL.canParse(host)
    ? getServerName(host)
    : toSlug(other ?? 'server')

function planAzureAccount(
  settings: JsonObject,
  { apiKey, baseUrl, plan }: { apiKey: Reference | undefined; baseUrl: PlannedValue | undefined; plan: ImportPlan },
): PlannedAccount | string {
  const resourceName = readString(settings.resource_name)
  const name = parseVariable(resourceName)
  const apiVersion = readString(settings.api_version)
  if (baseUrl !== undefined) return { provider: 'azure', apiKey, data: { baseUrl, apiVersion } }
  if (resourceName === undefined) return 'Has no resource_name, so the Azure resource is unknown.'
  if (name === undefined && !/^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/.test(resourceName))
    return 'Has an invalid resource_name. Correct it in the config, and run the import again.'
  const resource = name === undefined ? resourceName : plan.readVariable(name, 'an Azure resource name')
  return { provider: 'azure', apiKey, data: { resource, apiVersion } }
}

/** Returns a variable for the URL of an Azure resource whose name is only in Portkey's store. */
function planAzureUrl(
  settings: JsonObject,
  storedName: string | undefined,
  plan: ImportPlan,
): PlannedValue | undefined {
  if (storedName === undefined || readString(settings.resource_name) !== undefined) return undefined
  return plan.readVariable(`${toVariableName(storedName)}_BASE_URL`, 'a base URL, https://<resource>.openai.azure.com')
}

/** Plans a Bedrock target's account: with its Bedrock key if it has one, otherwise with AWS access keys. */
function planBedrockAccount(
  settings: JsonObject,
  { key, storedName, plan }: { key: Reference | undefined; storedName: string | undefined; plan: ImportPlan },
): PlannedAccount {
  const readSetting = (name: string, holds: string) => {
    const value = readString(settings[name])
    return value === undefined ? undefined : readSecret(value, name, { holds, plan })
  }
  const hasAccessKey = readString(settings.aws_access_key_id) !== undefined
  const region = readString(settings.aws_region)
  const name = region === undefined ? 'AWS_REGION' : parseVariable(region)
  const vaultKey =
    storedName === undefined || hasAccessKey
      ? undefined
      : plan.readVariable(toKeyVariable(storedName), 'a Bedrock API key, or <access key ID>:<secret>')
  return {
    provider: 'bedrock',
    apiKey: (hasAccessKey ? undefined : (key ?? vaultKey)) ?? joinAccessKeys(readSetting, plan),
    data: { region: name === undefined ? region : plan.readVariable(name, 'an AWS region') },
  }
}

function planVertexAccount(settings: JsonObject, apiKey: Reference | undefined, plan: ImportPlan): PlannedAccount {
  const account = settings.vertex_service_account_json
  const text = isObject(account) ? JSON.stringify(account) : readString(account)
  const readSetting = (value: unknown, label: string): PlannedValue | undefined => {
    const text = readString(value)
    const name = parseVariable(text)
    return name === undefined ? text : plan.readVariable(name, label)
  }
  return {
    provider: 'vertex',
    apiKey:
      text === undefined
        ? apiKey
        : readSecret(text, 'VERTEX_CREDENTIALS', { holds: SERVICE_ACCOUNT_DESCRIPTION, plan }),
    data: {
      project: readSetting(settings.vertex_project_id, 'a Google Cloud project'),
      region: readSetting(settings.vertex_region, 'a Google Cloud region'),
    },
  }
}

/** Returns the variable that a value names: `{{NAME}}` or `$NAME` in Portkey's own files, `${NAME}` or `process.env.NAME` in scripts. */
function parseVariable(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const found = /^(?:\{\{\s*([A-Za-z_]\w*)\s*\}\}|\$\{?([A-Z_][A-Z0-9_]*)\}?|process\.env\.([A-Za-z_]\w*))$/.exec(
    value.trim(),
  )
  return found?.[1] ?? found?.[2] ?? found?.[3]
}

function readSecret(
  value: string,
  preferredName: string,
  { holds, plan }: { holds: string; plan: ImportPlan },
): Reference {
  const found = parseVariable(value)
  return found === undefined ? plan.addSecret(value, preferredName, holds) : plan.readVariable(found, holds)
}
