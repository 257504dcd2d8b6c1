import { AsyncLocalStorage } from 'node:async_hooks'
import type { SyncAnswer } from '../../../src/sync/protocol.ts'
import type { Storage } from '../../../src/types.ts'
import type { CloudEnd } from './pair.ts'

/** What happens to one message. `replay`: an older request comes once more before it, that many requests old. */
export type Fault = 'none' | 'lost request' | 'lost answer' | 'twice' | { replay: number }

/**
 * Brings requests to a proxy as the faults say, one for each; none after the last. Remembers all that it has brought. `isBlind`: old requests come again
 * as though the proxy did not look at stamps.
 */
export function createTransport({ isBlind = true } = {}) {
  const sent: string[] = []

  return (proxy: Pick<CloudEnd, 'sync'>, faults: readonly Fault[]) => {
    let next = 0
    return async (text: string): Promise<SyncAnswer> => {
      const fault = faults[next++] ?? 'none'
      if (typeof fault === 'object') {
        const old = sent.at(-1 - fault.replay)
        if (old !== undefined) await proxy.sync(isBlind ? withStampOf(text, old) : old).catch(() => {})
      }
      sent.push(text)
      if (fault === 'lost request') throw new Error('The request was lost.')
      const answer = await proxy.sync(text)
      if (fault === 'twice') await proxy.sync(text).catch(() => {})
      if (fault === 'lost answer') throw new Error('The answer was lost.')
      return answer
    }
  }
}

/** An old request with the stamp of this one: the revisions alone must make it harmless. */
function withStampOf(text: string, old: string): string {
  const { stamp, attempts } = JSON.parse(text)
  return JSON.stringify({ ...JSON.parse(old), stamp, attempts })
}

/** A storage whose process can die at a write, which is made or not, and nothing after it; and that can be busy with something else before a write. */
export interface Mortal extends Storage {
  /** Does work before the write after `writes` more; all other writes wait for it, so that it sees what it changes. */
  interruptAfter(writes: number, work: () => Promise<void>): void
  /** Dies at the write after `writes` more. */
  dieAfter(writes: number, options: { isMade: boolean }): void
  isDead(): boolean
}

/** What a process sees of a storage that outlives it. */
export function mortal(storage: Storage): Mortal {
  let left = Number.POSITIVE_INFINITY
  let isMade = false
  let isDead = false
  let interruption: { left: number; work: () => Promise<void> } | undefined
  let interrupting: Promise<void> | undefined
  const isInterruption = new AsyncLocalStorage<boolean>()

  const alive =
    <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
    (...args: Args) =>
      isDead ? Promise.reject(death()) : work(...args)

  const counted = <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
    alive(async (...args: Args) => {
      if (interruption && interruption.left-- <= 0) {
        const { work: other } = interruption
        interruption = undefined
        interrupting = isInterruption.run(true, other)
      }
      if (!isInterruption.getStore()) await interrupting
      if (left-- > 0) return work(...args)
      isDead = true
      if (isMade) await work(...args)
      throw death()
    })

  return {
    atomic: true,
    get: alive(storage.get),
    list: alive(storage.list),
    set: counted(storage.set),
    delete: counted(storage.delete),
    ...(storage.watch && { watch: storage.watch }),
    dieAfter(writes, options) {
      left = writes
      isMade = options.isMade
    },
    interruptAfter(writes, other) {
      interruption = { left: writes, work: other }
    },
    isDead: () => isDead,
  }
}

const death = () => Object.assign(new Error('The process has died.'), { code: 'ECONNRESET' })
