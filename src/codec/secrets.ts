import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { awsCredentials, withoutCredentialShapes } from '../lib/credential-shapes.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { withoutEncoded } from '../lib/encoded-texts.ts'
import type { UpstreamAnswer, UpstreamCall } from '../lib/exchange.ts'
import { tryParseJson, tryParseShallow } from '../lib/json.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { Clock } from '../types.ts'
import type { Failure } from './failure.ts'

/** The credentials in a call's headers, which only the provider may see. */
export function secretsOf({ headers }: UpstreamCall): readonly string[] {
  const secrets: string[] = []
  for (const name of CREDENTIALS) {
    const secret = headers[name]?.replace(/^(?:Bearer|Token) /, '')
    if (secret !== undefined && secret.length >= SHORTEST_SECRET) secrets.push(secret)
  }
  return secrets
}

const CREDENTIALS = [
  'authorization',
  'x-api-key',
  'xi-api-key',
  'x-goog-api-key',
  'api-key',
  'x-subscription-token',
  'x-amz-security-token',
]

/** Shorter credentials are placeholders for providers that need none. */
export const SHORTEST_SECRET = 8

/** Where the credentials come from. */
export interface KnownKeysDependencies {
  connections(): Promise<readonly ConnectionRecord[]>
  apiKeyOf(connection: ConnectionRecord): Promise<string | undefined>
  clock: Clock
}

/** The credentials of all connections, since a provider may quote any of them. Those that cannot be decrypted are left out. */
export interface KnownKeys {
  /** The longest first, as one may be the beginning of another; also as they are escaped within JSON. Waits 1 s at most for the storage. */
  list(): Promise<readonly string[]>
  /** Finds the credentials of these connections, all that there are, in a text; `undefined` until they are decrypted. */
  finderFor(connections: readonly ConnectionRecord[]): QuotedKeyFinder | undefined
}

/** Does the text contain a credential? */
export type QuotedKeyFinder = (text: string) => boolean

/** How long a request waits for a storage that hangs. */
const MAX_WAIT_MS = 1_000

/** Decrypts credentials once until a connection changes. */
export function createKnownKeys({ connections, apiKeyOf, clock }: KnownKeysDependencies): KnownKeys {
  let from: readonly ConnectionRecord[] | undefined
  let keys: Promise<readonly string[]> = Promise.resolve([])
  let ready: { from: readonly ConnectionRecord[]; find: QuotedKeyFinder } | undefined

  async function open(all: readonly ConnectionRecord[]): Promise<readonly string[]> {
    const opened = await Promise.allSettled(all.map(apiKeyOf))
    const keys = opened.flatMap((one) => (one.status === 'fulfilled' && one.value ? partsOf(one.value) : []))
    const secrets = [...new Set(keys.filter((key) => key.length >= SHORTEST_SECRET))].sort(
      (one, other) => other.length - one.length,
    )
    if (from === all) ready = { from: all, find: createKeyFinder(secrets) }
    return secrets
  }

  async function refresh() {
    const all = await connections()
    if (all === from) return
    from = all
    keys = open(all)
  }

  return {
    async list() {
      await settlesWithin(refresh(), MAX_WAIT_MS, clock)
      return keys
    },
    finderFor: (connections) => (ready?.from === connections ? ready.find : undefined),
  }
}

/** A credential as it may be quoted: whole, as JSON spells it, and what of AWS's access keys is secret. */
function partsOf(apiKey: string): string[] {
  const { secretAccessKey, sessionToken } = awsCredentials(apiKey) ?? {}
  return [apiKey, JSON.stringify(apiKey).slice(1, -1), secretAccessKey ?? '', sessionToken ?? '']
}

/** How many of its last characters a key is found by: the ends of keys are random, their beginnings are not. */
const END = SHORTEST_SECRET

/** The step of a search. An end has this many groups of three characters, so that a search in such steps meets one of them. */
const STEP = END - 2

/** The size of the table of groups of three characters; a power of 2. */
const MARKS = 1 << 16

/** Finds any of many keys while it looks at every sixth place of a text only. */
export function createKeyFinder(keys: readonly string[]): QuotedKeyFinder {
  if (keys.length === 0) return () => false
  const marks = new Uint8Array(MARKS)
  const byEnd = new Map<string, string[]>()
  for (const key of keys) {
    const end = key.slice(-END)
    byEnd.set(end, [...(byEnd.get(end) ?? []), key])
    for (let at = 3; at <= END; at++) marks[markBefore(end, at)] = 1
  }

  const endsAt = (text: string, end: number) =>
    end <= text.length && byEnd.get(text.slice(end - END, end))?.some((key) => text.endsWith(key, end))

  return (text) => {
    for (let at = END; at <= text.length; at += STEP) {
      if (marks[markBefore(text, at)] !== 1) continue
      for (let end = at; end < at + STEP; end++) if (endsAt(text, end)) return true
    }
    return false
  }
}

/** A number for the three characters before a place. */
const markBefore = (text: string, at: number): number =>
  ((text.charCodeAt(at - 1) << 9) ^ (text.charCodeAt(at - 2) << 5) ^ text.charCodeAt(at - 3)) & (MARKS - 1)

/**
 * The failure without credentials in its message, body and headers, should the provider have quoted one: neither the known ones nor what
 * looks like one. The gateway's own messages get the name of the provider.
 */
export function redact<F extends { failure: Failure; head?: UpstreamAnswer }>(
  failed: F,
  { provider, secrets }: { provider: string; secrets: readonly string[] },
): F {
  const { failure, head } = failed
  const { body, ...rest } = failure
  const message = failure.isQuoted ? failure.message : naming(failure.message, provider)
  const clean = { ...rest, message: censored(message, secrets) }
  const kept = body && cleanBody(body, secrets)
  return {
    ...failed,
    failure: kept ? { ...clean, body: kept } : clean,
    ...(head && { head: withoutQuotes(head, secrets) }),
  }
}

/** Names the provider, of which an operator may have many. */
const naming = (message: string, provider: string) =>
  message.replace(/^The provider\b/, () => `The provider "${provider}"`)

/** The text with `[credential]` in place of each secret. */
export const redacted = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(secret, '[credential]'), text)

/**
 * The same for texts of failures, where also everything that looks like a credential is replaced, and what is one in base64, in hexadecimal or
 * percent-encoded, whole or as a part.
 */
export const censored = (text: string, secrets: readonly string[]): string =>
  withoutEncoded(withoutCredentialShapes(redacted(text, secrets)), (decoded) => quotes(decoded, secrets))

const quotes = (text: string, secrets: readonly string[]) =>
  secrets.some((secret) => text.includes(secret)) || withoutCredentialShapes(text) !== text

/**
 * The body, unchanged when it quotes nothing. JSON can spell a credential differently, as with `\/`; then it is parsed and written anew.
 */
function cleanBody(body: Uint8Array, secrets: readonly string[]): Uint8Array | undefined {
  const text = decodeUtf8Lenient(body)
  const plain = text.includes('\\') ? JSON.stringify(tryParseShallow(text) ?? null) : text
  const clean = censored(plain, secrets)
  if (clean === plain) return body
  return tryParseJson(clean) === undefined ? undefined : encodeUtf8(clean)
}

const withoutQuotes = (head: UpstreamAnswer, secrets: readonly string[]): UpstreamAnswer => ({
  status: head.status,
  body: head.body,
  header: (name) => head.header(name),
  headers: () => Array.from(head.headers()).filter(([, value]) => censored(value, secrets) === value),
})
