import type { Awaitable } from '../lib/awaitable.ts'
import { type ConnectionRecord, openApiKey, type Store } from './store.ts'

/** Opens connections' credentials, each once for as long as its record stays the same; a failure is not remembered. */
export function createCredentials(
  store: Pick<Store, 'vault'>,
): (connection: ConnectionRecord) => Awaitable<string | undefined> {
  const opened = new WeakMap<ConnectionRecord, string>()

  async function open(connection: ConnectionRecord) {
    const apiKey = await openApiKey(store, connection)
    if (apiKey !== undefined) opened.set(connection, apiKey)
    return apiKey
  }

  return (connection) =>
    connection.sealedApiKey === undefined ? undefined : (opened.get(connection) ?? open(connection))
}
