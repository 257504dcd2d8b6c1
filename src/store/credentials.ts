import { type ConnectionRecord, openApiKey, type Store } from './store.ts'

/** Opens connections' credentials, each once for as long as its record stays the same. */
export function createCredentials(
  store: Pick<Store, 'vault'>,
): (connection: ConnectionRecord) => Promise<string | undefined> {
  const opened = new WeakMap<ConnectionRecord, Promise<string | undefined>>()
  return (connection) => {
    const known = opened.get(connection)
    if (known !== undefined) return known
    const opening = openApiKey(store, connection)
    opened.set(connection, opening)
    opening.catch(() => opened.delete(connection)) // a failure is not remembered; the caller sees it through `opening`
    return opening
  }
}
