import { tests } from './suite.ts'

/* What every test page needs. */

/** Runs one test. Returns why it failed, if it did. */
export async function runTest(name: string): Promise<string | undefined> {
  try {
    const body = tests.get(name)
    if (!body) throw new Error(`there is no test "${name}"`)
    await body()
    return undefined
  } catch (error) {
    return error instanceof Error ? `${error.message}\n${error.stack}` : String(error)
  }
}

/** Deletes a database. Rejects if a connection to it stays open. */
export const deleteDatabase = (name: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name)
    request.onsuccess = () => resolve()
    request.onblocked = () => reject(new Error('the database is still open'))
    request.onerror = () => reject(request.error)
  })
