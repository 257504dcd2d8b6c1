import { charCodeAt } from '../../lib/char-code-at.ts'
import { listSecretVariants, MIN_QUOTABLE_LENGTH } from '../../lib/credential-shapes.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import type { UpstreamCall } from '../../lib/exchange.ts'
import type { ConnectionRecord } from '../../records/store.ts'
import type { Clock } from '../../types.ts'

/** Returns the credentials in a call's headers, which only the provider may see. */
export function getSecrets({ headers }: UpstreamCall): readonly string[] {
  const secrets: string[] = []
  for (const name of CREDENTIAL_HEADERS) {
    const secret = headers[name]?.replace(/^(?:Bearer|Token) /, '')
    if (secret !== undefined && secret.length >= MIN_QUOTABLE_LENGTH) secrets.push(secret)
  }
  return secrets
}

const CREDENTIAL_HEADERS = [
  'authorization',
  'x-api-key',
  'xi-api-key',
  'x-goog-api-key',
  'api-key',
  'x-subscription-token',
  'x-amz-security-token',
]

/** The dependencies for finding all credentials. */
export interface KnownKeysDependencies {
  connections(): Promise<readonly ConnectionRecord[]>
  getApiKey(connection: ConnectionRecord): Promise<string | undefined>
  clock: Clock
}

/** The credentials of all connections, because a provider may quote any of them. Omits credentials that can't be decrypted. */
export interface KnownKeys {
  /**
   * Lists the credentials and their JSON-escaped forms, longest first, because one may be the start of another. Waits at most 1 s for the storage.
   */
  list(): Promise<readonly string[]>
  /** Returns a search for these connections' credentials. These must be all connections. Returns `undefined` until the credentials are decrypted. */
  getFinder(connections: readonly ConnectionRecord[]): QuotedKeyFinder | undefined
}

/** Returns whether the text contains a credential. */
export type QuotedKeyFinder = (text: string) => boolean

/** Maximum time that a request waits for a hanging store, in ms. */
const MAX_WAIT_MS = 1_000

/** Creates the list of credentials. It only decrypts them again when a connection changes. */
export function createKnownKeys({ connections, getApiKey, clock }: KnownKeysDependencies): KnownKeys {
  let keysSource: readonly ConnectionRecord[] | undefined
  let keys: Promise<readonly string[]> = Promise.resolve([])
  let finder: { from: readonly ConnectionRecord[]; find: QuotedKeyFinder } | undefined

  async function decryptKeys(connections: readonly ConnectionRecord[]): Promise<readonly string[]> {
    const decryptions = await Promise.allSettled(connections.map(getApiKey))
    const keys = decryptions.flatMap((result) =>
      result.status === 'fulfilled' && result.value ? listSecretVariants(result.value) : [],
    )
    const secrets = [...new Set(keys)].sort((a, b) => b.length - a.length)
    if (keysSource === connections) finder = { from: connections, find: createKeyFinder(secrets) }
    return secrets
  }

  async function refresh() {
    const currentConnections = await connections()
    if (currentConnections === keysSource) return
    keysSource = currentConnections
    keys = decryptKeys(currentConnections)
  }

  return {
    async list() {
      await settlesWithin(refresh(), MAX_WAIT_MS, clock)
      return keys
    },
    getFinder: (connections) => (finder?.from === connections ? finder.find : undefined),
  }
}

/** How many of a key's last characters the search uses. The ends of keys are random; their starts aren't. */
const KEY_END_LENGTH = MIN_QUOTABLE_LENGTH

/** The step size of a search. A key's end contains this many groups of three characters, so every search hits one of them. */
const SCAN_STEP = KEY_END_LENGTH - 2

/** The size of the table of three-character groups; a power of 2. */
const TABLE_SIZE = 1 << 16

/** Creates a search for any of many keys that looks only at every sixth position in a string. */
export function createKeyFinder(keys: readonly string[]): QuotedKeyFinder {
  if (keys.length === 0) return () => false
  const knownEnds = new Uint8Array(TABLE_SIZE)
  const keysByEnd = new Map<string, string[]>()
  for (const key of keys) {
    const end = key.slice(-KEY_END_LENGTH)
    keysByEnd.set(end, [...(keysByEnd.get(end) ?? []), key])
    for (let index = 3; index <= KEY_END_LENGTH; index++) knownEnds[hashBefore(end, index)] = 1
  }

  const endsWithKey = (text: string, end: number) =>
    end <= text.length && keysByEnd.get(text.slice(end - KEY_END_LENGTH, end))?.some((key) => text.endsWith(key, end))

  return (text) => {
    const { length } = text
    for (let index = KEY_END_LENGTH; index <= length; index += SCAN_STEP) {
      if (knownEnds[hashBefore(text, index)] !== 1) continue
      for (let end = index; end < index + SCAN_STEP; end++) if (endsWithKey(text, end)) return true
    }
    return false
  }
}

/** Hashes the three characters before a position. */
const hashBefore = (text: string, end: number): number =>
  ((charCodeAt(text, end - 1) << 9) ^ (charCodeAt(text, end - 2) << 5) ^ charCodeAt(text, end - 3)) & (TABLE_SIZE - 1)
