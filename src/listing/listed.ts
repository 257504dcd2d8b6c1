import type { ModelEntry } from '../types.ts'

/** One listed model: its id, the alias of its owner (`combo` for combos), and the kind of a web entry. */
export interface Listed {
  id: string
  owner: string
  kind?: 'webSearch' | 'webFetch'
}

/**
 * The entries of one response, with the same `created` (epoch seconds); of entries with the same id the first is kept (spec.md, Listing
 * rules 5).
 */
export function toEntries(listed: Iterable<Listed>, created: number): ModelEntry[] {
  const entries = new Map<string, ModelEntry>()
  for (const { id, owner, kind } of listed) {
    if (entries.has(id)) continue
    const entry: ModelEntry = { id, object: 'model', created, owned_by: owner }
    if (kind) entry.kind = kind
    entries.set(id, entry)
  }
  return [...entries.values()]
}
