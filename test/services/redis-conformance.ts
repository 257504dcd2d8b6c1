import { redisStorage } from '../../adapters/storage/redis.ts'
import type { StorageConformance } from '../conformance/storage.ts'
import type { OpenClient } from './redis-clients.ts'
import { EMPTY, PASS } from './redis-scripts.ts'

let stores = 0

/** The conformance suite's options for Redis: how to open a store, and how to reopen it with another client. */
export const redisConformance = (open: () => Promise<OpenClient>): StorageConformance => ({
  has: ['increment', 'watch'],
  async create() {
    const [first, second] = [await open(), await open()]
    const prefix = `conformance ${process.pid} ${++stores}`
    const root = `{${prefix}}:`
    return {
      storage: redisStorage(first.client, { prefix }),
      reopen: () => redisStorage(second.client, { prefix }),
      passTime: async (ms) => void (await first.command('EVAL', PASS, '1', root, root, String(ms))),
      async destroy() {
        await first.command('EVAL', EMPTY, '1', root, root)
        first.end()
        second.end()
      },
    }
  },
})
