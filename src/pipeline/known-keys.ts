import type { Awaitable } from '../lib/awaitable.ts'
import { settlesWithin } from '../lib/settles-within.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { Clock } from '../types.ts'
import { isSecret } from './secrets.ts'

/** Where the credentials come from. */
export interface KnownKeysDependencies {
  connections(): Awaitable<readonly ConnectionRecord[]>
  apiKeyOf(connection: ConnectionRecord): Awaitable<string | undefined>
  clock: Clock
}

/** How long a failing request waits for a storage that hangs. */
const MAX_WAIT_MS = 1_000

/**
 * The credentials of all connections, since a provider may quote any of them in an error. Decrypted once until a connection changes; those
 * that cannot be decrypted are left out.
 */
export function createKnownKeys({
  connections,
  apiKeyOf,
  clock,
}: KnownKeysDependencies): () => Promise<readonly string[]> {
  let from: readonly ConnectionRecord[] | undefined
  let keys: Promise<readonly string[]> = Promise.resolve([])

  const keyOf = async (connection: ConnectionRecord) => apiKeyOf(connection)

  async function open(all: readonly ConnectionRecord[]): Promise<readonly string[]> {
    const opened = await Promise.allSettled(all.map(keyOf))
    const keys = opened.flatMap((one) => (one.status === 'fulfilled' && one.value !== undefined ? [one.value] : []))
    return keys.filter(isSecret).sort((one, other) => other.length - one.length) // one may be the beginning of another
  }

  async function refresh() {
    const all = await connections()
    if (all === from) return
    from = all
    keys = open(all)
  }

  return async () => {
    await settlesWithin(refresh(), MAX_WAIT_MS, clock)
    return keys
  }
}
