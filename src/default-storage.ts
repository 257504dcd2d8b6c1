import { once } from './lib/promises.ts'
import type { Clock, Logger, Storage } from './types.ts'

/** Returns in-memory storage for a gateway without the `storage` option; loads it on first use. Warns that its data doesn't last. */
export function createDefaultStorage(clock: Clock, logger: Logger): Storage {
  logger.warn(
    'No storage was given, so API keys, limits, and usage are kept in memory: they are lost when this process ends, and other instances do not share them. To keep them, pass "storage", such as fileStorage() from signalbox/storage/file.',
  )
  let memory: Storage | undefined
  const load = once(async () => {
    const { memoryStorage } = await import('../adapters/storage/memory.ts')
    memory = memoryStorage({ clock })
    return memory
  })
  const open = () => memory ?? load()
  return {
    atomic: true,
    usageRecordLimit: { records: 100_000, bytes: 32 * 1024 * 1024 },
    get: async (...args) => (await open()).get(...args),
    set: async (...args) => (await open()).set(...args),
    delete: async (...args) => (await open()).delete(...args),
    list: async (...args) => (await open()).list(...args),
    increment: async (key, by, options) => (await open()).increment?.(key, by, options) ?? Number.NaN, // in-memory storage implements it
    watch: () => () => {}, // nothing else can write to it
    ownSecret: async () => (await open()).ownSecret?.() ?? '',
  }
}
