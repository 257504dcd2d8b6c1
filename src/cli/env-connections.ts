import type { ConnectionView } from '../admin/connections.ts'
import { isGatewayError } from '../errors.ts'
import type { Management } from '../management/operations.ts'
import { isClientKey } from '../records/key-format.ts'
import type { Catalog } from '../types.ts'
import { ENV_PREFIX, stripQuotes, type Variables } from './cli-options.ts'

/** The usual variables for built-in providers' API keys. The first variable that is set is used. */
const KEY_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  openai: ['OPENAI_API_KEY'],
  anthropic: ['ANTHROPIC_API_KEY'],
  google: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  mistral: ['MISTRAL_API_KEY'],
  deepseek: ['DEEPSEEK_API_KEY'],
  xai: ['XAI_API_KEY'],
  groq: ['GROQ_API_KEY'],
  openrouter: ['OPENROUTER_API_KEY'],
  together: ['TOGETHER_API_KEY'],
  fireworks: ['FIREWORKS_API_KEY'],
  cerebras: ['CEREBRAS_API_KEY'],
  cohere: ['COHERE_API_KEY', 'CO_API_KEY'],
  moonshot: ['MOONSHOT_API_KEY'],
}

/** Variables that redirect the official SDKs to another base URL. If one is set, the API key isn't for the provider. */
const BASE_URL_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  openai: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'],
  anthropic: ['ANTHROPIC_BASE_URL'],
  google: ['GOOGLE_GEMINI_BASE_URL', 'GEMINI_BASE_URL'],
}

/** The result for a variable that is set. */
export interface EnvConnection {
  variable: string
  provider: string
  /** Why the variable isn't used. Absent if it is used. */
  problem?: string
}

/**
 * Creates the connection `env-<provider>` for each variable with a provider's API key. Removes these connections if their variable is no longer set
 * or used, so no key is kept unnecessarily. Skips providers that have another connection, or that are in `definedProviders`. Keeps the operator's
 * changes to these connections.
 */
export async function applyEnvironment(
  env: Variables,
  { connections }: Pick<Management, 'connections'>,
  { catalog, definedProviders = [] }: { catalog: Catalog; definedProviders?: readonly string[] },
): Promise<EnvConnection[]> {
  const { connections: all } = await connections.list()
  const found: EnvConnection[] = []
  for (const provider of Object.keys(KEY_VARIABLES)) {
    const id = ENV_PREFIX + provider
    const existing = all.find((connection) => connection.id === id)
    const variable = KEY_VARIABLES[provider]?.find((name) => env[name]?.trim())
    const value = env[variable ?? '']?.trim()
    const apiKey = value === undefined ? undefined : stripQuotes(value).trim()
    let problem =
      variable && apiKey ? findSkipReason(provider, apiKey, { env, all, definedProviders }) : 'it is not set'
    if (variable && problem === undefined) {
      const name = createName(catalog, provider, variable)
      const isRenamed = existing !== undefined && !isNamedHere(existing, catalog)
      problem = await connections.put({ id, provider, apiKey: apiKey ?? null, ...(!isRenamed && { name }) }).then(
        () => undefined,
        (error: unknown) => {
          if (isGatewayError(error, 'INVALID_REQUEST')) return error.message
          throw error
        },
      )
    }
    if (problem !== undefined && existing) await connections.delete(id)
    if (variable) found.push({ variable, provider, ...(problem !== undefined && { problem }) })
  }
  return found
}

function findSkipReason(
  provider: string,
  apiKey: string,
  {
    env,
    all,
    definedProviders,
  }: { env: Variables; all: readonly ConnectionView[]; definedProviders: readonly string[] },
): string | undefined {
  const address = BASE_URL_VARIABLES[provider]?.find((name) => env[name]?.trim())
  if (isClientKey(apiKey)) return 'it contains a Signalbox API key'
  if (address !== undefined) return `${address} is set, so the key is for another server`
  const others = all.filter(({ id }) => id !== ENV_PREFIX + provider).map((other) => other.provider)
  if ([...others, ...definedProviders].includes(provider)) return `"${provider}" already has a connection`
  return undefined
}

const createName = (catalog: Catalog, provider: string, variable: string) =>
  `${catalog[provider]?.name ?? provider} from ${variable}`

const isNamedHere = ({ provider, name }: ConnectionView, catalog: Catalog) =>
  KEY_VARIABLES[provider]?.some((variable) => name === createName(catalog, provider, variable)) ?? false
