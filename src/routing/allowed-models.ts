import { namesOf } from '../providers/names.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Catalog, Kind } from '../types.ts'
import { isLike } from './facts.ts'
import type { Group, Route, RouteTarget } from './group.ts'
import type { RouteTable } from './route-table.ts'

/** The lists of allowed models and kinds of a key and of its group. A request must be allowed by both. */
type Restricted = Pick<PresentedKey, 'models' | 'kinds' | 'group'>

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

  /** May the key ask for models of this kind? */
  allowsKind(kind: Kind): boolean {
    return this.#kinds.every((list) => list.includes(kind))
  }

  /** Does every list name a model, a combo or an alias, so that the key may use all that it leads to? */
  allowsName(model: string): boolean {
    return this.#models.every((list) => isIn(list, model))
  }

  /**
   * May a request for this name use the target? Each list must name what was asked for, or the target itself as `<name>/<model>` by one of the
   * three names of its provider.
   */
  allowsTarget(model: string, { connection, model: id }: Pick<RouteTarget, 'connection' | 'model'>): boolean {
    if (this.#models.length === 0) return true
    const names = Object.values<string>({ ...namesOf(this.#catalog, connection) }).map((name) => `${name}/${id}`)
    return this.#models.every((list) => isIn(list, model) || names.some((name) => isIn(list, name)))
  }

  /** May the key ask for this name: for the name itself, or for any target that it can lead to? */
  allowsModel(model: string, table: Pick<RouteTable, 'resolutionOf'>): boolean {
    if (this.allowsName(model)) return true
    const seen = new Set<Group>()
    const open = [model]
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      const resolution = table.resolutionOf(name) ?? []
      const isGroup = 'strategy' in resolution
      if (isGroup && seen.has(resolution)) continue
      if (isGroup) seen.add(resolution)
      for (const { target, name: entry } of isGroup ? resolution.entries : resolution.map(asEntry)) {
        if (!target) open.push(entry)
        else if (this.allowsTarget(model, target)) return true
      }
    }
    return false
  }
}

/** The models and kinds that a key may use; `undefined`: all of them, when there is no key, or neither the key nor its group has a list. */
export function accessOf(key: Restricted | undefined, catalog: Catalog): Access | undefined {
  const isRestricted = key && (key.models ?? key.kinds ?? key.group?.models ?? key.group?.kinds)
  return isRestricted ? new Access(key, catalog) : undefined
}

/** The name through which a request came to a route: the request's model name, or the name of the entry in its list that led there. */
export function askedName({ via }: Route, request: { call: { model: string }; list?: Group | undefined }): string {
  if (!request.list) return request.call.model
  let outermost = via
  while (outermost?.before) outermost = outermost.before
  return outermost?.entry.name ?? ''
}

const isIn = (list: readonly string[], name: string) => list.some((pattern) => isLike(name, pattern))

const asEntry = ({ target }: { target: RouteTarget }) => ({ target, name: '' })
