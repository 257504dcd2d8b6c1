import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import { type ConnectionRecord, openApiKey, type Store } from './store.ts'

/** The number of credentials that are decrypted ahead of their use. */
const MAX_AHEAD = 50

/**
 * Decrypts the credentials of connections, each once until its record changes; failures are not cached. The first call decrypts the others
 * as well: the next attempt may need one, and all are removed from providers' errors.
 */
export function createCredentials(
  store: Pick<Store, 'vault' | 'connections'>,
): (connection: ConnectionRecord) => Awaitable<string | undefined> {
  const opened = new WeakMap<ConnectionRecord, string>()
  const opening = new WeakMap<ConnectionRecord, Promise<string | undefined>>()
  let ahead: readonly ConnectionRecord[] | undefined

  async function open(connection: ConnectionRecord) {
    try {
      const apiKey = await openApiKey(store, connection)
      if (apiKey !== undefined) opened.set(connection, apiKey)
      return apiKey
    } finally {
      opening.delete(connection)
    }
  }

  function openOnce(connection: ConnectionRecord): Awaitable<string | undefined> {
    if (connection.sealedApiKey === undefined) return undefined
    const known = opened.get(connection) ?? opening.get(connection)
    if (known !== undefined) return known
    const begun = open(connection)
    opening.set(connection, begun)
    return begun
  }

  function openOthers() {
    const all = store.connections.all()
    if (isPromise(all) || all === ahead) return
    ahead = all
    for (const other of all.slice(0, MAX_AHEAD)) {
      const begun = openOnce(other)
      if (isPromise(begun)) begun.catch(() => {}) // whoever needs it will hear
    }
  }

  return (connection) => {
    const apiKey = openOnce(connection)
    if (isPromise(apiKey)) openOthers()
    return apiKey
  }
}
