import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Storage } from '../../../src/index.ts'

/** Reads a folder's files. Resolves to their contents, by name. */
export async function getFiles(path: string): Promise<Record<string, Buffer>> {
  const names = (await readdir(path)).sort()
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(path, name))] as const)),
  )
}

/** Writes files into a folder, creating it if needed. */
export async function putFiles(path: string, files: Record<string, Buffer>): Promise<void> {
  await mkdir(path, { recursive: true })
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(path, name), bytes)
}

/** Returns a store's values, by key. */
export async function getContents(storage: Storage): Promise<Record<string, string>> {
  return Object.fromEntries((await storage.list('')).map(({ key, value }) => [key, value]))
}

/** Returns the code and message of the error that a promise rejects with. */
export async function getFailure(work: Promise<unknown> | undefined): Promise<{ code: unknown; message: string }> {
  const error: unknown = await work?.then(
    () => new Error('it worked'),
    (reason: unknown) => reason,
  )
  return { code: Reflect.get(Object(error), 'code'), message: String(Reflect.get(Object(error), 'message')) }
}
