import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { isProblem } from '../../src/cli/problem.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { Storage } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

/** Creates a suite whose tests share a temporary folder for config files. */
export function configSuite(title: string) {
  const test = suite(title, { folder: '' })
  test.before(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'signalbox-config-'))
  })
  test.after(async ({ folder }) => {
    await rm(folder, { recursive: true, force: true })
  })
  return test
}

/** Opens a store for applying config files. `written` returns the keys written since its previous call. */
export function openData() {
  const memory = memoryStorage()
  let writes: string[] = []
  const storage: Storage = {
    ...memory,
    set: (key, ...rest) => {
      writes.push(key)
      return memory.set(key, ...rest)
    },
  }
  const data = { storage, catalog: defaultCatalog, secret: 'a secret of at least 32 characters' }
  const writeFiles = () => {
    const all = writes
    writes = []
    return all
  }
  return { data, written: writeFiles }
}

/** Writes a file. Resolves to its path. */
export async function write(folder: string, name: string, content: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

/** Resolves to the message of the error that the promise rejects with. */
export async function findProblem(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(isProblem(error), String(error))
  return error.message
}
