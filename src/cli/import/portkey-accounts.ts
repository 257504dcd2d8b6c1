import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { usage } from '../command-line.ts'
import { address, hostName, providerAt } from './addresses.ts'
import { accessKeys, SERVICE_ACCOUNT } from './cloud-credentials.ts'
import { isNothing, listOf, objectOf, textOf, words } from './given-fields.ts'
import type { ImportPlan, PlannedAccount, PlannedValue, Reference } from './plan.ts'
import { keyVariable, slug, variableName } from './plan-names.ts'

/* The accounts of Portkey's targets: provider, address and key. */

/** Signalbox's names of providers that have another name in Portkey. */
const PROVIDERS: Readonly<Record<string, string>> = {
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
const SAME = words(`
  openai anthropic bedrock google groq deepseek openrouter cohere cerebras ollama huggingface nebius sambanova siliconflow deepinfra moonshot
  voyage jina minimax mistral xai together fireworks azure vertex perplexity-agent
`)
/** The longest first, as one may begin with another. */
const NAMES = [...SAME, ...Object.keys(PROVIDERS)].sort((one, other) => other.length - one.length)

/** Signalbox's name of a provider of Portkey; `undefined`: Signalbox does not have it. */
const providerOf = (name: string): string | undefined =>
  getEntry(PROVIDERS, name) ?? (SAME.includes(name) ? name : undefined)

/** The members of a target that name the provider, the address and the key. */
export const ACCOUNT_MEMBERS = words(`
  provider api_key virtual_key custom_host resource_name deployment_id api_version aws_access_key_id aws_secret_access_key aws_session_token
  aws_region vertex_project_id vertex_region vertex_service_account_json huggingface_base_url
`)

/** The members among these of which the account of a target is made; the account has no place for the others. `provider`: Signalbox's name of it. */
export function accountMembersTaken(target: JsonObject, provider: string): readonly string[] {
  const has = (name: string) => !isNothing(target[name])
  const takenBy: Readonly<Record<string, readonly string[]>> = {
    azure: ['api_key', 'api_version', has('custom_host') ? 'custom_host' : 'resource_name'],
    bedrock: [
      'aws_region',
      ...(has('aws_access_key_id') || !has('api_key')
        ? words('aws_access_key_id aws_secret_access_key aws_session_token')
        : ['api_key']),
    ],
    vertex: [
      ...words('vertex_project_id vertex_region'),
      has('vertex_service_account_json') ? 'vertex_service_account_json' : 'api_key',
    ],
  }
  return ['provider', 'virtual_key', 'deployment_id', ...(getEntry(takenBy, provider) ?? ['api_key', 'custom_host'])]
}

/** What is known of names: from the integrations in the `conf.json` of a self-hosted gateway, and from the user, who gives `name=provider` in `told`. */
export function knownNames(config: JsonObject, told: readonly string[]): KnownNames {
  const integrations = listOf(config.integrations).map(objectOf)
  return new Map([
    ...integrations.flatMap(({ slug: name, provider, credentials }) =>
      textOf(name) === undefined ? [] : [[textOf(name) ?? '', { ...objectOf(credentials), provider }] as const],
    ),
    ...told.map((one) => {
      const [name = '', provider] = one.split('=', 2).map((part) => part.trim().replace(/^@/, ''))
      if (!provider)
        throw usage(
          `--provider needs a name from the config and its provider, for example: --provider ${name || 'house'}=openai`,
        )
      return [name, { provider }] as const
    }),
  ])
}

/** The names of the variables that a config reads. Keys that the config has in clear must not get these names. */
export function variablesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(variablesOf)
  if (isObject(value)) return Object.values(value).flatMap(variablesOf)
  const found = variableIn(value)
  return found === undefined ? [] : [found]
}

/** What is known of the names in Portkey's own store: their providers, and their credentials where the file has them. */
export type KnownNames = ReadonlyMap<string, JsonObject>

/** The provider that a target asks. `vaulted`: the name under which Portkey's own store has the key of the target. */
function meantBy(target: JsonObject, known: KnownNames) {
  const written = textOf(target.provider)
  const stored = textOf(target.virtual_key) ?? (written?.startsWith('@') ? written.slice(1) : undefined)
  if (stored === undefined) return { given: target, named: written, vaulted: undefined }
  const entry = known.get(stored) ?? {}
  const told = NAMES.find((name) => slug(stored) === name || slug(stored).startsWith(`${name}-`))
  return {
    given: { ...target, ...entry },
    named: textOf(entry.provider) ?? told,
    vaulted: textOf(entry.api_key) === undefined ? stored : undefined,
  }
}

/** The account of a target, or why there is none. */
export function accountOf(
  target: JsonObject,
  place: string,
  { known, plan }: { known: KnownNames; plan: ImportPlan },
): PlannedAccount | string {
  const { given, named, vaulted } = meantBy(target, known)
  const host = textOf(given.custom_host)?.replace(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g, (_, name: string) => `\${${name}}`)
  const at = named === 'openai' ? providerAt(host) : undefined
  const provider = at ?? providerOf(named ?? '')
  if (named === undefined && vaulted === undefined) return 'Has no provider.'
  if (provider === undefined && host === undefined)
    return named === undefined
      ? `"${vaulted}" is a name in Portkey's store that doesn't reveal the provider. Run the import again with its provider, for example: --provider ${vaulted}=openai`
      : `Signalbox has no provider "${named}", and the target has no custom_host.`
  const isOwnServer =
    provider === undefined || (at === undefined && host !== undefined && !KEEPS_NAME.includes(provider))
  const wish = isOwnServer ? serverName(host, named ?? vaulted) : provider
  if (vaulted !== undefined)
    plan.maps(
      `${place}: ${vaulted}`,
      `${isOwnServer ? 'the server at its custom_host' : `provider ${provider}`}; its key is in Portkey's store`,
    )
  const literal = textOf(given.api_key)
  const key = literal === undefined ? undefined : secretOf(literal, `${wish}_API_KEY`, { holds: 'an API key', plan })
  const usual = vaulted ?? (isOwnServer || provider === 'ollama' ? undefined : provider)
  const holds = provider === 'vertex' ? SERVICE_ACCOUNT : 'an API key'
  const apiKey = key ?? (usual === undefined ? undefined : plan.read(keyVariable(usual), holds))
  const baseUrl =
    host === undefined || at !== undefined
      ? undefined
      : address(plan, host, { wish, end: provider === 'ollama' ? '/v1' : '' })
  if (isOwnServer) {
    const speaks = provider === 'anthropic' ? 'anthropic' : 'openai'
    return { provider: `${speaks}-compatible-${wish}`, id: wish, apiKey, data: { baseUrl } }
  }
  if (provider === 'azure')
    return azureAccount(given, { apiKey, baseUrl: baseUrl ?? azureAddress(given, vaulted, plan), plan })
  if (provider === 'bedrock') return bedrockAccount(given, { key, vaulted, plan })
  if (provider === 'vertex') return vertexAccount(given, apiKey, plan)
  return { provider, apiKey, data: { baseUrl } }
}

/** Providers that keep their name when the user gives another address. */
const KEEPS_NAME = ['ollama', 'azure', 'bedrock', 'vertex']

const serverName = (host: string | undefined, other: string | undefined): string =>
  host !== undefined && variableIn(host) === undefined && URL.canParse(host) ? hostName(host) : slug(other ?? 'server')

function azureAccount(
  given: JsonObject,
  { apiKey, baseUrl, plan }: { apiKey: Reference | undefined; baseUrl: PlannedValue | undefined; plan: ImportPlan },
): PlannedAccount | string {
  const asked = textOf(given.resource_name)
  const name = variableIn(asked)
  const apiVersion = textOf(given.api_version)
  if (baseUrl !== undefined) return { provider: 'azure', apiKey, data: { baseUrl, apiVersion } }
  if (asked === undefined) return 'Has no resource_name, so the Azure resource is unknown.'
  if (name === undefined && !/^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/.test(asked))
    return 'Has an invalid resource_name. Correct it in the config, and run the import again.'
  const resource = name === undefined ? asked : plan.read(name, 'an Azure resource name')
  return { provider: 'azure', apiKey, data: { resource, apiVersion } }
}

/** A variable for the address of a resource of Azure whose name only Portkey's store has. */
function azureAddress(given: JsonObject, vaulted: string | undefined, plan: ImportPlan): PlannedValue | undefined {
  if (vaulted === undefined || textOf(given.resource_name) !== undefined) return undefined
  return plan.read(`${variableName(vaulted)}_BASE_URL`, 'a base URL, https://<resource>.openai.azure.com')
}

/** The account of a target at Bedrock: with its Bedrock key if it has one, else with access keys of AWS. */
function bedrockAccount(
  given: JsonObject,
  { key, vaulted, plan }: { key: Reference | undefined; vaulted: string | undefined; plan: ImportPlan },
): PlannedAccount {
  const of = (name: string, holds: string) => {
    const value = textOf(given[name])
    return value === undefined ? undefined : secretOf(value, name, { holds, plan })
  }
  const hasAccessKey = textOf(given.aws_access_key_id) !== undefined
  const region = textOf(given.aws_region)
  const name = region === undefined ? 'AWS_REGION' : variableIn(region)
  const vaultKey =
    vaulted === undefined || hasAccessKey
      ? undefined
      : plan.read(keyVariable(vaulted), 'a Bedrock API key, or <access key ID>:<secret>')
  return {
    provider: 'bedrock',
    apiKey: (hasAccessKey ? undefined : (key ?? vaultKey)) ?? accessKeys(of, plan),
    data: { region: name === undefined ? region : plan.read(name, 'an AWS region') },
  }
}

function vertexAccount(given: JsonObject, apiKey: Reference | undefined, plan: ImportPlan): PlannedAccount {
  const account = given.vertex_service_account_json
  const text = isObject(account) ? JSON.stringify(account) : textOf(account)
  const of = (value: unknown, what: string): PlannedValue | undefined => {
    const text = textOf(value)
    const name = variableIn(text)
    return name === undefined ? text : plan.read(name, what)
  }
  return {
    provider: 'vertex',
    apiKey: text === undefined ? apiKey : secretOf(text, 'VERTEX_CREDENTIALS', { holds: SERVICE_ACCOUNT, plan }),
    data: {
      project: of(given.vertex_project_id, 'a Google Cloud project'),
      region: of(given.vertex_region, 'a Google Cloud region'),
    },
  }
}

/** The variable that a value names: Portkey's own files write `{{NAME}}` or `$NAME`, scripts `${NAME}` or `process.env.NAME`. */
function variableIn(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const found = /^(?:\{\{\s*([A-Za-z_]\w*)\s*\}\}|\$\{?([A-Z_][A-Z0-9_]*)\}?|process\.env\.([A-Za-z_]\w*))$/.exec(
    value.trim(),
  )
  return found?.[1] ?? found?.[2] ?? found?.[3]
}

function secretOf(value: string, wish: string, { holds, plan }: { holds: string; plan: ImportPlan }): Reference {
  const found = variableIn(value)
  return found === undefined ? plan.secret(value, wish, holds) : plan.read(found, holds)
}
