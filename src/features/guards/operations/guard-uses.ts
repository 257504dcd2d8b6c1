import type { WritableStore } from '../../../records/writable-store.ts'

/** Describes which settings, groups, keys, and combos use a guard. Returns `undefined` if none do. */
export async function describeGuardUses(store: WritableStore, name: string): Promise<string | undefined> {
  const names = (record: { guards?: readonly string[]; guardsExcept?: readonly string[] }) =>
    record.guards?.includes(name) || record.guardsExcept?.includes(name)
  const [settings, groups, keys, combos] = await Promise.all([
    store.settings.reread(),
    store.groups.entries({ fresh: true }),
    store.keys.entries({ fresh: true }),
    store.combos.entries({ fresh: true }),
  ])
  const found = [
    ...(names(settings) ? ['the settings'] : []),
    ...describe(
      'group',
      groups.filter(({ record }) => names(record)),
    ),
    ...describe(
      'key',
      keys.filter(({ record }) => names(record)),
    ),
    ...describe(
      'combo',
      combos.filter(({ record }) => names(record)),
    ),
  ]
  return found.length > 0 ? found.join(', ') : undefined
}

function describe(noun: string, entries: ReadonlyArray<{ record: { name: string } }>): string[] {
  if (entries.length === 0) return []
  const names = entries.slice(0, MAX_NAMED).map(({ record }) => `"${record.name}"`)
  const more = entries.length - names.length
  const plural = entries.length === 1 ? '' : 's'
  return [`the ${noun}${plural} ${names.join(', ')}${more > 0 ? `, and ${more} more` : ''}`]
}

const MAX_NAMED = 5
