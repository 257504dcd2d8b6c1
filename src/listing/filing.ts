import type { ProviderNames } from '../providers/names.ts'

/** Model ids filed under names. A provider finds its own by its three names without walking those of all others. */
export interface Filing {
  add(name: string, id: string): void
  /** What is filed under any of the three, in the order in which it was added. */
  under(names: ProviderNames): string[]
}

export function createFiling(): Filing {
  const byName = new Map<string, Array<{ order: number; id: string }>>()
  let added = 0
  return {
    add(name, id) {
      const filed = { order: added++, id }
      const list = byName.get(name)
      if (list) list.push(filed)
      else byName.set(name, [filed])
    },
    under: ({ output, catalog, id }) =>
      [...new Set([output, catalog, id])]
        .flatMap((name) => byName.get(name) ?? [])
        .sort((a, b) => a.order - b.order)
        .map((filed) => filed.id),
  }
}
