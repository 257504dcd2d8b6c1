import { withoutCredentialShapes } from '../../lib/credential-shapes.ts'
import { withoutTrailing } from '../../lib/urls.ts'
import { definitions } from '../../protocols/providers/definitions.ts'
import { type ImportPlan, type PlannedValue, Reference } from './plan.ts'
import { slug } from './plan-names.ts'

/** The end of a path that the program adds itself, but that some files include in the address. */
const ENDPOINT = /\/(?:chat\/completions|completions|responses|embeddings|messages)$/i

const withoutEndpoint = (given: string): string =>
  withoutTrailing(withoutTrailing(given.trim(), '/').replace(ENDPOINT, ''), '/')

/**
 * The address for the file, with `end` at its end. Variables in it, as in `https://${HOST}/v1`, stay. It becomes a variable as a whole where it may be or
 * hold a secret: when it is not a valid address, or has a user, a password, a query, or anything that looks like a credential.
 */
export function address(
  plan: ImportPlan,
  given: string,
  { wish, end = '' }: { wish: string; end?: string },
): PlannedValue {
  const trimmed = withoutEndpoint(given)
  const whole = trimmed.endsWith(end) ? trimmed : trimmed + end
  const names = [...whole.matchAll(VARIABLE)].map(([, name = '']) => name)
  const parts = whole.split(VARIABLE).filter((_, at) => at % 2 === 0)
  // A variable may hold a name, a port, or all that stands before a path.
  const filled =
    [parts.join('x'), parts.join('1'), ...(parts[0] === '' ? [`http://x${parts.join('x')}`] : [])].find((one) =>
      URL.canParse(one),
    ) ?? whole
  const url = URL.canParse(filled) ? new URL(filled) : undefined
  const hasMore = url !== undefined && Boolean(url.username || url.password || url.search || url.hash)
  if (hasMore)
    return plan.variableFor(
      whole,
      `${wish}_BASE_URL`,
      'the base URL from the file, without username, password, and query, which Signalbox rejects',
    )
  const isPlain = url && /^https?:$/.test(url.protocol) && withoutCredentialShapes(filled) === filled
  if (!isPlain) return plan.secret(whole, `${wish}_BASE_URL`, 'a base URL')
  for (const name of names) plan.read(name, parts.join('') === '' ? 'a base URL' : 'part of a base URL')
  return names.length > 0 ? new Reference(parts, names) : whole
}

/** A variable that a shell fills in. */
const VARIABLE = /\$\{([A-Za-z_]\w*)\}/g

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
