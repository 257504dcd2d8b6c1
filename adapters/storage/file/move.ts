import { rename } from 'node:fs/promises'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode } from './folder.ts'

/** How to move a file, how many times to try, and the pause between attempts. */
export interface MoveOptions {
  attempts?: number
  pauseMs?: number
  rename?: (from: string, to: string) => Promise<void>
}

/**
 * Moves a file into place. On Windows, a move fails while another process has either file open, as virus scanners briefly do with every new file, so
 * the move is retried for a second. Throws the file system's error.
 */
export async function move(from: string, to: string, options: MoveOptions = {}): Promise<void> {
  const { attempts = process.platform === 'win32' ? 50 : 1, pauseMs = 20, rename: once = rename } = options
  for (let remaining = attempts - 1; ; remaining--) {
    try {
      return await once(from, to)
    } catch (error) {
      if (remaining <= 0 || !hasCode(error, 'EPERM', 'EACCES', 'EBUSY')) throw error
      await sleep(pauseMs)
    }
  }
}
