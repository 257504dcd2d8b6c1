import { getProviderNames } from '../../protocols/providers/provider-names.ts'
import type { Caller } from '../../request/caller.ts'
import type { DataPolicy } from '../../request/data-policy.ts'
import type { Group, RouteTarget } from '../../request/routing/group.ts'
import type { RouteTable } from '../../request/routing/route-table.ts'
import { matchesPattern } from '../../request/routing/routing-facts.ts'
import type { Catalog, Kind } from '../../types.ts'

/**
 * The models, kinds, and connections that a caller may use. Its key, the key's group, its token, its account, and the account's plan must all allow
 * them.
 */
export class Access {
  readonly #models: readonly (readonly string[])[]
  readonly #kinds: readonly (readonly Kind[])[]
  readonly #catalog: Catalog
  /** The data policies of the key, its group, the token, the account, and its plan. */
  readonly policies: readonly DataPolicy[]

  constructor({ key, account, token }: Pick<Caller, 'key' | 'account' | 'token'>, catalog: Catalog) {
    const permissionSources = [key, key?.group, token, account?.plan, ...(account?.allowed ?? [])]
    this.#models = permissionSources.flatMap((permissions) => (permissions?.models ? [permissions.models] : []))
    this.#kinds = permissionSources.flatMap((permissions) => (permissions?.kinds ? [permissions.kinds] : []))
    this.#catalog = catalog
    this.policies = [
      ...(key?.require ? [{ tags: key.require, source: `the API key "${key.name}"` }] : []),
      ...(key?.group?.require ? [{ tags: key.group.require, source: `the group "${key.group.name}"` }] : []),
      ...(token?.require ? [{ tags: token.require, source: 'the token' }] : []),
      ...(account?.require ?? []).map((tags) => ({ tags, source: 'your account' })),
    ]
  }

  /** Whether only some models or kinds are allowed. */
  get isRestricted(): boolean {
    return this.#models.length > 0 || this.#kinds.length > 0
  }

  /** Returns whether the caller may use models of this kind. */
  allowsKind(kind: Kind): boolean {
    return this.#kinds.every((allowedKinds) => allowedKinds.includes(kind))
  }

  /** Returns whether every allowlist matches the name of this model, combo, or alias. If so, the caller may use all of its targets. */
  allowsName(model: string): boolean {
    return this.#models.every((patterns) => matchesAny(patterns, model))
  }

  /**
   * Returns whether a request for this name may use the target. Each allowlist must match either the requested name or `<name>/<model>`, where
   * `<name>` is any of the provider's three names.
   */
  allowsTarget(model: string, { connection, model: modelId }: Pick<RouteTarget, 'connection' | 'model'>): boolean {
    if (this.#models.length === 0) return true
    const names = Object.values<string>({ ...getProviderNames(this.#catalog, connection) }).map(
      (name) => `${name}/${modelId}`,
    )
    return this.#models.every(
      (patterns) => matchesAny(patterns, model) || names.some((name) => matchesAny(patterns, name)),
    )
  }

  /** Returns whether the caller may request this name, because the name itself or at least one target that it can resolve to is allowed. */
  allowsModel(model: string, table: Pick<RouteTable, 'resolveModel'>): boolean {
    if (this.allowsName(model)) return true
    const visitedGroups = new Set<Group>()
    const queue = [model]
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      const resolution = table.resolveModel(name) ?? []
      const isGroup = 'strategy' in resolution
      if (isGroup && visitedGroups.has(resolution)) continue
      if (isGroup) visitedGroups.add(resolution)
      for (const { target, name: entryName } of isGroup ? resolution.entries : resolution.map(toEntry)) {
        if (!target) queue.push(entryName)
        else if (this.allowsTarget(model, target)) return true
      }
    }
    return false
  }
}

const matchesAny = (patterns: readonly string[], name: string) =>
  patterns.some((pattern) => matchesPattern(name, pattern))

const toEntry = ({ target }: { target: RouteTarget }) => ({ target, name: '' })
