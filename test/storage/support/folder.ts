import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Creates a temporary folder. `remove` deletes it. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'signalbox-storage-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/** Runs the body with a temporary folder, and deletes the folder afterwards. */
export async function inFolder<T>(body: (path: string) => Promise<T>): Promise<T> {
  const folder = await temporaryFolder()
  try {
    return await body(folder.path)
  } finally {
    await folder.remove()
  }
}
