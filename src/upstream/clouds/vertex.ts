import type { UpstreamCall, UpstreamFetch } from '../../lib/exchange.ts'
import { withoutTrailing } from '../../lib/trim-end.ts'
import type { Target } from '../../providers/target.ts'
import type { ProviderSpecificData } from '../../types.ts'
import { type Ask, callBelow } from '../request.ts'
import type { GoogleTokens } from './google-tokens.ts'
import type { CloudRules } from './rules.ts'
import { serviceAccount } from './service-account.ts'
import { claudeOnVertex } from './vertex-claude.ts'
import { geminiOnVertex } from './vertex-gemini.ts'

/** Google Vertex AI: a project, and the key file of a service account, an access token, or a Vertex API key. */
export const vertexRules: CloudRules = {
  settings: ['project', 'region'],
  takesJson: true,
  settingsProblem({ project, format }, apiKey) {
    if (format !== undefined)
      return 'Vertex AI is asked in the format of each model; leave "providerSpecificData.format" out.'
    if (project || apiKey === undefined || API_KEY.test(apiKey) || serviceAccount(apiKey)?.project) return undefined
    return 'Vertex AI needs "providerSpecificData.project", the id of a project of Google Cloud, unless the credential tells it.'
  },
  credentialProblem: (apiKey) =>
    apiKey.startsWith('{') && !serviceAccount(apiKey)
      ? 'As JSON, "apiKey" must be the key file of a service account.'
      : undefined,
}

interface Means {
  target: Pick<Target, 'model' | 'format'>
  data: ProviderSpecificData
  apiKey: string
  tokens: GoogleTokens
  fetch: UpstreamFetch
}

/** The call to the region's address, or the connection's. An API key needs no project. */
export async function vertexCall(ask: Ask, { target, data, apiKey, tokens, fetch }: Means): Promise<UpstreamCall> {
  const { region = 'global' } = data
  const account = serviceAccount(apiKey)
  const project = data.project ?? account?.project
  const place = project === undefined ? '' : `/projects/${project}/locations/${region}`
  const { path, headers, body } = spoken(ask, target)
  const version = target.format === 'gemini' ? 'v1beta1' : 'v1' // as Google's and Anthropic's own clients have it
  const credential: Record<string, string> = API_KEY.test(apiKey)
    ? { 'x-goog-api-key': apiKey }
    : { authorization: `Bearer ${account ? await tokens(account, fetch) : apiKey}` }
  const base = `${data.baseUrl ? root(data.baseUrl) : address(region)}/${version}${place}`
  return callBelow(base, { path, query: '', headers: { ...headers, ...credential }, body })
}

/** Gemini and Claude are called in their own formats, below their publishers; other models through the OpenAI-compatible endpoint. */
function spoken(ask: Ask, { model, format }: Means['target']): Omit<Ask, 'query'> {
  if (format === 'gemini') return geminiOnVertex(ask)
  if (format === 'anthropic-messages') return claudeOnVertex(ask, model)
  return { ...ask, path: `/endpoints/openapi${ask.path}` }
}

/** The address of a region, a multi-region (`us`, `eu`) or `global`. */
function address(region: string): string {
  if (region === 'global') return 'https://aiplatform.googleapis.com'
  return /^(?:us|eu)$/.test(region)
    ? `https://aiplatform.${region}.rep.googleapis.com`
    : `https://${region}-aiplatform.googleapis.com`
}

const root = (baseUrl: string) => withoutTrailing(baseUrl.trim(), '/').replace(/\/v1(?:beta1)?$/, '')

/** The prefixes of Google API keys; access tokens have others. */
const API_KEY = /^(?:AIza|AQ\.)/
