import type { WritableStore } from '../../../records/writable-store.ts'

/** Describes which settings, groups, keys, and combos use a guard. Returns `undefined` if none do. */
export async function describeGuardUses(store: WritableStore, name: string): Promise<string | undefined> {
  const usesGuard = (record: { guards?: readonly string[]; guardsExcept?: readonly string[] }) =>
    record.guards?.includes(name) || record.guardsExcept?.includes(name)
  const [settings, groups, keys, combos] = await Promise.all([
    store.settings.reread(),
    store.groups.entries({ fresh: true }),
    store.keys.entries({ fresh: true }),
    store.combos.entries({ fresh: true }),
  ])
  const uses = [
    ...(usesGuard(settings) ? ['the settings'] : []),
    ...describeRecords(
      'group',
      groups.filter(({ record }) => usesGuard(record)),
    ),
    ...describeRecords(
      'key',
      keys.filter(({ record }) => usesGuard(record)),
    ),
    ...describeRecords(
      'combo',
      combos.filter(({ record }) => usesGuard(record)),
    ),
  ]
  return uses.length > 0 ? uses.join(', ') : undefined
}

function describeRecords(noun: string, entries: ReadonlyArray<{ record: { name: string } }>): string[] {
  if (entries.length === 0) return []
  const names = entries.slice(0, MAX_LISTED_NAMES).map(({ record }) => `"${record.name}"`)
  const remainingCount = entries.length - names.length
  const plural = entries.length === 1 ? '' : 's'
  return [`the ${noun}${plural} ${names.join(', ')}${remainingCount > 0 ? `, and ${remainingCount} more` : ''}`]
}

const MAX_LISTED_NAMES = 5
