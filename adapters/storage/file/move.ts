import { rename } from 'node:fs/promises'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode } from './folder.ts'

/** How a move is made and how often, `pauseMs` apart. */
export interface MoveOptions {
  attempts?: number
  pauseMs?: number
  rename?: (from: string, to: string) => Promise<void>
}

/**
 * Moves a file to its place. On Windows a move fails while another process has one of the two files open, as a virus scanner does with every
 * new file for a moment: there it is tried again for a second. Throws what the file system throws.
 */
export async function move(from: string, to: string, options: MoveOptions = {}): Promise<void> {
  const { attempts = process.platform === 'win32' ? 50 : 1, pauseMs = 20, rename: once = rename } = options
  for (let left = attempts - 1; ; left--) {
    try {
      return await once(from, to)
    } catch (error) {
      if (left <= 0 || !hasCode(error, 'EPERM', 'EACCES', 'EBUSY')) throw error
      await sleep(pauseMs)
    }
  }
}
