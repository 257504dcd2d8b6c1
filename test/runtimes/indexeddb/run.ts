import { tests } from './suite.ts'

/* What every page of the tests does. */

/** Runs one test and returns the reason for its failure. */
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

/** Fails if an open connection doesn't close. */
export const deleteDatabase = (name: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name)
    request.onsuccess = () => resolve()
    request.onblocked = () => reject(new Error('the database is still open'))
    request.onerror = () => reject(request.error)
  })
