import { getProviderNames } from '../../protocols/providers/names.ts'
import type { ClientKey } from '../../records/key-lookup.ts'
import type { Group, RouteTarget } from '../../request/routing/group.ts'
import type { RouteTable } from '../../request/routing/route-table.ts'
import { matchesPattern } from '../../request/routing/routing-facts.ts'
import type { Catalog, Kind } from '../../types.ts'

/** The lists of allowed models and kinds of a key and of its group. A request must be allowed by both. */
type Restricted = Pick<ClientKey, 'models' | 'kinds' | 'group'>

/** The models and kinds that a key may use. */
export class Access {
  readonly #models: readonly (readonly string[])[]
  readonly #kinds: readonly (readonly Kind[])[]
  readonly #catalog: Catalog

  constructor({ models, kinds, group }: Restricted, catalog: Catalog) {
    this.#models = [models, group?.models].filter((list) => list !== undefined)
    this.#kinds = [kinds, group?.kinds].filter((list) => list !== undefined)
    this.#catalog = catalog
  }

  /** Whether the key may use models of this kind. */
  allowsKind(kind: Kind): boolean {
    return this.#kinds.every((list) => list.includes(kind))
  }

  /** Whether every list contains the name of the model, combo, or alias, so that the key may use all its targets. */
  allowsName(model: string): boolean {
    return this.#models.every((list) => includesMatch(list, model))
  }

  /**
   * Whether a request for this name may use the target. Each list must contain the requested name, or the target as `<name>/<model>` by one of the
   * three names of its provider.
   */
  allowsTarget(model: string, { connection, model: id }: Pick<RouteTarget, 'connection' | 'model'>): boolean {
    if (this.#models.length === 0) return true
    const names = Object.values<string>({ ...getProviderNames(this.#catalog, connection) }).map(
      (name) => `${name}/${id}`,
    )
    return this.#models.every((list) => includesMatch(list, model) || names.some((name) => includesMatch(list, name)))
  }

  /** Whether the key may request this name: the name itself is allowed, or any target that it can resolve to. */
  allowsModel(model: string, table: Pick<RouteTable, 'resolveModel'>): boolean {
    if (this.allowsName(model)) return true
    const seen = new Set<Group>()
    const open = [model]
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      const resolution = table.resolveModel(name) ?? []
      const isGroup = 'strategy' in resolution
      if (isGroup && seen.has(resolution)) continue
      if (isGroup) seen.add(resolution)
      for (const { target, name: entry } of isGroup ? resolution.entries : resolution.map(toEntry)) {
        if (!target) open.push(entry)
        else if (this.allowsTarget(model, target)) return true
      }
    }
    return false
  }
}

const includesMatch = (list: readonly string[], name: string) => list.some((pattern) => matchesPattern(name, pattern))

const toEntry = ({ target }: { target: RouteTarget }) => ({ target, name: '' })
