import type { ProviderNames } from '../providers/names.ts'

/** Model ids by provider name, so that a provider finds its own by its three names without a search through all. */
export interface Filing {
  add(name: string, id: string): void
  /** The ids under any of the three names, in the order in which they were added. */
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
