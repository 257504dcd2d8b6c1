import { namesOf } from '../providers/names.ts'
import type { AliasRecord, ConnectionRecord } from '../store/store.ts'
import type { Catalog } from '../types.ts'
import type { Group } from './group.ts'

/** What is configured, as far as names lead through it. */
export interface MissingProvidersWorld {
  catalog: Catalog
  combos: ReadonlyMap<string, Group>
  aliases: ReadonlyMap<AliasRecord['alias'], AliasRecord['model']>
  /** Inactive ones too. */
  connections: readonly ConnectionRecord[]
  /** Is there an active connection of this name? */
  isConnected(name: string): boolean
}

/**
 * The providers that a model name leads to, through aliases and combos, and to which no active connection does; in the order in which
 * they are written, each once, `max` at most.
 */
export function missingProviders(model: string, world: MissingProvidersWorld, max = 3): string[] {
  const missing = new Set<string>()
  const seen = new Set<string>()
  const rest = [model] // the next one last
  for (let name = rest.pop(); name !== undefined && missing.size < max; name = rest.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    const combo = world.combos.get(name)
    const meant = world.aliases.get(name)
    if (combo) rest.push(...combo.entries.map((entry) => entry.name).reverse())
    else if (meant !== undefined) rest.push(meant)
    else {
      const provider = missingProvider(name, world)
      if (provider !== undefined) missing.add(provider)
    }
  }
  return [...missing]
}

/** The provider of a name `<provider>/<model>` whose only fault is that no active connection leads there. */
function missingProvider(model: string, { catalog, connections, isConnected }: MissingProvidersWorld) {
  const name = model.slice(0, Math.max(0, model.indexOf('/')))
  if (name === '' || isConnected(name)) return undefined
  const known = [...Object.keys(catalog).map((provider) => ({ provider })), ...connections]
  return known.find((one) => {
    const { output, catalog: filed, id } = namesOf(catalog, one)
    return name === id || name === output || name === filed
  })?.provider
}
