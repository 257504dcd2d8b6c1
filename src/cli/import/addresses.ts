import { redactCredentialShapes } from '../../lib/credential-shapes.ts'
import { trimTrailing } from '../../lib/urls.ts'
import { definitions } from '../../protocols/providers/definitions.ts'
import { type ImportPlan, type PlannedValue, Reference } from './plan.ts'
import { toSlug } from './plan-names.ts'

/** The path suffixes that Signalbox appends to base URLs. Some configuration files already include them. */
const ENDPOINT_PATTERN = /\/(?:chat\/completions|completions|responses|embeddings|messages)$/i

const withoutEndpoint = (url: string): string =>
  trimTrailing(trimTrailing(url.trim(), '/').replace(ENDPOINT_PATTERN, ''), '/')

/**
 * Returns the base URL for the file, with `end` appended. Keeps variables, such as in `https://${HOST}/v1`. A variable replaces a URL that is invalid
 * or may contain a secret (a username, a password, a query, or anything that looks like a credential).
 */
export function planBaseUrl(
  plan: ImportPlan,
  rawUrl: string,
  { wish: preferredName, end: suffix = '' }: { wish: string; end?: string },
): PlannedValue {
  const trimmed = withoutEndpoint(rawUrl)
  const fullUrl = trimmed.endsWith(suffix) ? trimmed : trimmed + suffix
  const names = [...fullUrl.matchAll(VARIABLE_PATTERN)].map(([, name = '']) => name)
  const parts = fullUrl.split(VARIABLE_PATTERN).filter((_, index) => index % 2 === 0)
  // A variable can contain a hostname, a port, or everything before the path.
  const placeholderUrl =
    [parts.join('x'), parts.join('1'), ...(parts[0] === '' ? [`http://x${parts.join('x')}`] : [])].find((candidate) =>
      URL.canParse(candidate),
    ) ?? fullUrl
  const url = URL.canParse(placeholderUrl) ? new URL(placeholderUrl) : undefined
  const hasMore = url !== undefined && Boolean(url.username || url.password || url.search || url.hash)
  if (hasMore)
    return plan.addVariable(
      fullUrl,
      `${preferredName}_BASE_URL`,
      'the base URL from the file, without username, password, and query, which Signalbox rejects',
    )
  const isPlain = url && /^https?:$/.test(url.protocol) && redactCredentialShapes(placeholderUrl) === placeholderUrl
  if (!isPlain) return plan.addSecret(fullUrl, `${preferredName}_BASE_URL`, 'a base URL')
  for (const name of names) plan.readVariable(name, parts.join('') === '' ? 'a base URL' : 'part of a base URL')
  return names.length > 0 ? new Reference(parts, names) : fullUrl
}

/** Matches a variable that a shell fills in. */
const VARIABLE_PATTERN = /\$\{([A-Za-z_]\w*)\}/g

/** Derives a server's name from the hostname in its URL. */
export const getServerName = (url: string | undefined): string =>
  url !== undefined && URL.canParse(url)
    ? toSlug(new URL(url).hostname.replace(/\.(?:com|net|org|ai|io|local)$/, ''))
    : 'server'

/** Finds the built-in provider with exactly this URL and the OpenAI format. Returns `undefined` if there is none. */
export const findProviderByUrl = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : PROVIDERS_BY_URL.get(withoutVersion(withoutEndpoint(url)))

const withoutVersion = (baseUrl: string) => baseUrl.toLowerCase().replace(/\/v1$/, '')

const PROVIDERS_BY_URL: ReadonlyMap<string, string> = new Map(
  Object.entries(definitions).flatMap(([id, { baseUrl, format = 'openai-chat' }]) =>
    baseUrl !== undefined && format === 'openai-chat' ? [[withoutVersion(baseUrl), id] as const] : [],
  ),
)
