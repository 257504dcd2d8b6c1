import { AsyncLocalStorage } from 'node:async_hooks'
import type { SyncResponse } from '../../../src/features/cloud-sync/protocol.ts'
import type { Storage } from '../../../src/types.ts'
import type { CloudEnd } from './pair.ts'

/** The fault of one message. `replay` sends an older request first, from this many requests ago. */
export type Fault = 'none' | 'lost request' | 'lost answer' | 'twice' | { replay: number }

/**
 * Creates a transport that sends requests to a proxy and records them. Each fault applies to one request, and later requests have none. With
 * `isBlind`, old requests are replayed with a current stamp, as if the proxy didn't check stamps.
 */
export function createTransport({ isBlind = true } = {}) {
  const sent: string[] = []

  return (proxy: Pick<CloudEnd, 'sync'>, faults: readonly Fault[]) => {
    let next = 0
    return async (text: string): Promise<SyncResponse> => {
      const fault = faults[next++] ?? 'none'
      if (typeof fault === 'object') {
        const old = sent.at(-1 - fault.replay)
        if (old !== undefined) await proxy.sync(isBlind ? withStampOf(text, old) : old).catch(() => {})
      }
      sent.push(text)
      if (fault === 'lost request') throw new Error('The request was lost.')
      const response = await proxy.sync(text)
      if (fault === 'twice') await proxy.sync(text).catch(() => {})
      if (fault === 'lost answer') throw new Error('The answer was lost.')
      return response
    }
  }
}

/** Returns an old request with the stamp of a current one, so that only its revisions can make it harmless. */
function withStampOf(text: string, old: string): string {
  const { stamp, attempts } = JSON.parse(text)
  return JSON.stringify({ ...JSON.parse(old), stamp, attempts })
}

/** A store whose process can die before or after a write, or do other work before a write. */
export interface Mortal extends Storage {
  /** Runs work before the nth write from now. All other writes wait for the work, so it sees a consistent state. */
  interruptAfter(writes: number, work: () => Promise<void>): void
  /** Kills the process at the nth write from now. */
  dieAfter(writes: number, options: { isMade: boolean }): void
  isDead(): boolean
}

/** Wraps a store that outlives the process, as that process sees it. */
export function mortal(storage: Storage): Mortal {
  let left = Number.POSITIVE_INFINITY
  let isMade = false
  let isDead = false
  let interruption: { left: number; action: () => Promise<void> } | undefined
  let interrupting: Promise<void> | undefined
  const isInterruption = new AsyncLocalStorage<boolean>()

  const alive =
    <Args extends unknown[], T>(action: (...args: Args) => Promise<T>) =>
    (...args: Args) =>
      isDead ? Promise.reject(death()) : action(...args)

  const countCalls = <Args extends unknown[], T>(action: (...args: Args) => Promise<T>) =>
    alive(async (...args: Args) => {
      if (interruption && interruption.left-- <= 0) {
        const { action: other } = interruption
        interruption = undefined
        interrupting = isInterruption.run(true, other)
      }
      if (!isInterruption.getStore()) await interrupting
      if (left-- > 0) return action(...args)
      isDead = true
      if (isMade) await action(...args)
      throw death()
    })

  return {
    atomic: true,
    get: alive(storage.get),
    list: alive(storage.list),
    set: countCalls(storage.set),
    delete: countCalls(storage.delete),
    ...(storage.watch && { watch: storage.watch }),
    dieAfter(writes, options) {
      left = writes
      isMade = options.isMade
    },
    interruptAfter(writes, other) {
      interruption = { left: writes, action: other }
    },
    isDead: () => isDead,
  }
}

const death = () => Object.assign(new Error('The process has died.'), { code: 'ECONNRESET' })
