import { once } from './lib/promises.ts'
import type { Clock, Logger, Storage } from './types.ts'

/** Returns in-memory storage for a gateway without the `storage` option; loads it on first use. Warns that its data isn't persisted. */
export function createDefaultStorage(clock: Clock, logger: Logger): Storage {
  logger.warn(
    'No storage was given, so API keys, limits, and usage are kept in memory: they are lost when this process ends, and other instances do not share them. To keep them, pass "storage", such as fileStorage() from signalbox/storage/file.',
  )
  const load = once(async () => (await import('../adapters/storage/memory.ts')).memoryStorage({ clock }))
  return {
    atomic: true,
    usageRecordLimit: { records: 100_000, bytes: 32 * 1024 * 1024 },
    get: async (...args) => (await load()).get(...args),
    set: async (...args) => (await load()).set(...args),
    delete: async (...args) => (await load()).delete(...args),
    list: async (...args) => (await load()).list(...args),
    increment: async (key, by, options) => (await load()).increment?.(key, by, options) ?? Number.NaN, // in-memory storage implements `increment`
    watch: () => () => {}, // no other process can write to this storage
    ownSecret: async () => (await load()).ownSecret?.() ?? '',
  }
}
