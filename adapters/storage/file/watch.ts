import { type FSWatcher, watch } from 'node:fs'
import { basename } from 'node:path'
import type { Logger } from '../../../src/index.ts'
import type { Folder } from './folder.ts'

/** Checks the store when the system reports a change, and every `pollMs` where it reports none; keeps no process alive. */
export function watchStore(
  folder: Folder,
  { look, pollMs, logger }: { look(): Promise<unknown>; pollMs: number; logger: Logger },
): () => void {
  let looking = false
  let isAgain = false
  let lastFailure = ''
  let isStopped = false

  async function lookNow() {
    isAgain = looking
    if (looking) return
    looking = true
    try {
      do {
        isAgain = false
        await look()
      } while (isAgain)
      lastFailure = ''
    } catch (error) {
      if (isStopped) return
      const text = String(error)
      if (text !== lastFailure) logger.error('The store could not be read while watching it.', { error: text })
      lastFailure = text
    } finally {
      looking = false
    }
  }

  let watcher: FSWatcher | undefined
  void lookNow().then(() => {
    if (!isStopped) watcher = listen(folder, () => void lookNow())
  })
  const timer = setInterval(() => void lookNow(), pollMs)
  timer.unref()

  return () => {
    isStopped = true
    watcher?.close()
    clearInterval(timer)
  }
}

/** Returns `undefined` where the file system reports no changes, or there are too many watchers: then only the timer finds changes. */
function listen(folder: Folder, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder.path, { persistent: false }, (_, name) => {
      if (name === null || name === basename(folder.store)) onChange()
    })
    return watcher.on('error', () => watcher.close())
  } catch {
    return undefined
  }
}
