import { withoutCredentialShapes } from '../../lib/credential-shapes.ts'
import { withoutTrailing } from '../../lib/urls.ts'
import { definitions } from '../../providers/definitions.ts'
import { type ImportPlan, type PlannedValue, slug } from './plan.ts'

/** The end of a path that the program adds itself, but that some files include in the address. */
const ENDPOINT = /\/(?:chat\/completions|completions|responses|embeddings|messages)$/i

const withoutEndpoint = (given: string): string =>
  withoutTrailing(withoutTrailing(given.trim(), '/').replace(ENDPOINT, ''), '/')

/**
 * The address for the file, with `end` at its end. It becomes a variable where it may be or hold a secret: when it is not a valid address, or has a user,
 * a password, a query, or anything that looks like a credential.
 */
export function address(
  plan: ImportPlan,
  given: string,
  { wish, end = '' }: { wish: string; end?: string },
): PlannedValue {
  const trimmed = withoutEndpoint(given)
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && !(url.username || url.password || url.search || url.hash)
  const whole = trimmed.endsWith(end) ? trimmed : trimmed + end
  return isPlain && withoutCredentialShapes(whole) === whole
    ? whole
    : plan.secret(whole, `${wish}_BASE_URL`, 'an address')
}

/** A name for the server at an address, made from the name of its host. */
export const hostName = (given: string | undefined): string =>
  given !== undefined && URL.canParse(given)
    ? slug(new URL(given).hostname.replace(/\.(?:com|net|org|ai|io|local)$/, ''))
    : 'server'

/** The provider of Signalbox that has exactly this address and speaks like OpenAI; `undefined`: none. */
export const providerAt = (given: string | undefined): string | undefined =>
  given === undefined ? undefined : PROVIDERS_AT.get(withoutVersion(withoutEndpoint(given)))

const withoutVersion = (address: string) => address.toLowerCase().replace(/\/v1$/, '')

const PROVIDERS_AT: ReadonlyMap<string, string> = new Map(
  Object.entries(definitions).flatMap(([id, { baseUrl, format = 'openai-chat' }]) =>
    baseUrl !== undefined && format === 'openai-chat' ? [[withoutVersion(baseUrl), id] as const] : [],
  ),
)
