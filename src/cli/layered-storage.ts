import type { Storage } from '../types.ts'

/**
 * `base` with the records of `top` laid over it: what is in `top` is read and changed there, everything else in `base`, and new records
 * go to `base`. So what is in `top` never reaches it.
 */
export function layeredStorage(top: Storage, base: Storage): Storage {
  const layerOf = async (key: string) => ((await top.get(key)) ? top : base)
  return {
    ...base,
    get: async (key) => (await top.get(key)) ?? base.get(key),
    set: async (key, value, options) => (await layerOf(key)).set(key, value, options),
    delete: async (key, options) => (await layerOf(key)).delete(key, options),
    async list(prefix, range = {}) {
      const [over, under] = await Promise.all([top.list(prefix, range), base.list(prefix, range)])
      const rows = new Map([...under, ...over].map((row) => [row.key, row]))
      const sorted = [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
      return range.limit === undefined ? sorted : sorted.slice(0, range.limit)
    },
  }
}
