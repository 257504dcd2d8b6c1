import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import { settlesWithin } from '../lib/settles-within.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { Clock } from '../types.ts'
import { awsCredentials } from '../upstream/clouds/aws-credentials.ts'
import { isSecret, SHORTEST_SECRET } from './secrets.ts'

/** Where the credentials come from. */
export interface KnownKeysDependencies {
  connections(): Awaitable<readonly ConnectionRecord[]>
  apiKeyOf(connection: ConnectionRecord): Awaitable<string | undefined>
  clock: Clock
}

/** The credentials of all connections, since a provider may quote any of them. Those that cannot be decrypted are left out. */
export interface KnownKeys {
  /** The longest first, as one may be the beginning of another; also as they are spelt within JSON. Waits 1 s at most for the storage. */
  list(): Promise<readonly string[]>
  /** Finds any of them in a text; `undefined` until they are decrypted, and when connections have changed. */
  finder(): KeyFinder | undefined
}

/** Does the text contain a credential? */
export type KeyFinder = (text: string) => boolean

/** How long a request waits for a storage that hangs. */
const MAX_WAIT_MS = 1_000

/** Decrypts credentials once until a connection changes. */
export function createKnownKeys({ connections, apiKeyOf, clock }: KnownKeysDependencies): KnownKeys {
  let from: readonly ConnectionRecord[] | undefined
  let keys: Promise<readonly string[]> = Promise.resolve([])
  let ready: { from: readonly ConnectionRecord[]; find: KeyFinder } | undefined

  const keyOf = async (connection: ConnectionRecord) => apiKeyOf(connection)

  async function open(all: readonly ConnectionRecord[]): Promise<readonly string[]> {
    const opened = await Promise.allSettled(all.map(keyOf))
    const keys = opened.flatMap((one) => (one.status === 'fulfilled' && one.value ? partsOf(one.value) : []))
    const secrets = [...new Set(keys.filter(isSecret))].sort((one, other) => other.length - one.length)
    if (from === all) ready = { from: all, find: createKeyFinder(secrets) }
    return secrets
  }

  async function refresh() {
    const all = await connections()
    if (all === from) return
    from = all
    keys = open(all)
  }

  async function list(): Promise<readonly string[]> {
    await settlesWithin(refresh(), MAX_WAIT_MS, clock)
    return keys
  }

  return {
    list,
    finder() {
      const all = connections()
      if (!isPromise(all)) return ready?.from === all ? ready.find : undefined
      all.catch(() => {}) // a storage that fails is reported where its records are needed
      return ready?.find
    },
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
export function createKeyFinder(keys: readonly string[]): KeyFinder {
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
