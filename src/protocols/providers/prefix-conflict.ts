import type { Catalog, Connection } from '../../types.ts'
import { getCatalogAlias, getDefinition, getProviderNames, type NamedConnection } from './provider-names.ts'

type OtherConnection = Pick<Connection, 'id' | 'provider' | 'name' | 'providerSpecificData'>

/** A prefix that two providers would share. */
export interface PrefixConflict {
  prefix: string
  /** The provider in the catalog, or the other connection, that already has the name. */
  owner: string | OtherConnection
  /** Whether the prefix belongs to the owner and is also a name of the connection's provider. */
  isOwnersPrefix?: true
}

/**
 * Finds a conflict between provider names and prefixes: a prefix of `connection` that is another provider's name, or a prefix of another provider's
 * connection that is this provider's name. Skips conflicts that `sharesPrefix` allows. Otherwise, routing would treat both as accounts of one
 * provider and fail over between them. `otherConnections` contains all other connections, including inactive ones.
 */
export function findPrefixConflict(
  catalog: Catalog,
  connection: NamedConnection,
  otherConnections: readonly OtherConnection[],
): PrefixConflict | undefined {
  const { provider, providerSpecificData: providerData } = connection
  if (providerData?.sharesPrefix) return undefined
  const prefix = getPrefix(connection)
  const owner = Object.keys(catalog).find((id) => id !== provider && getBuiltInNames(catalog, id).includes(prefix))
  if (prefix && owner) return { prefix, owner }

  const names = Object.values(getProviderNames(catalog, connection))
  for (const other of otherConnections) {
    if (other.provider === provider) continue
    if (prefix && Object.values(getProviderNames(catalog, other)).includes(prefix)) return { prefix, owner: other }
    const otherPrefix = getPrefix(other)
    if (names.includes(otherPrefix) && !other.providerSpecificData?.sharesPrefix)
      return { prefix: otherPrefix, owner: other, isOwnersPrefix: true }
  }
  return undefined
}

const getPrefix = ({ providerSpecificData }: NamedConnection) => providerSpecificData?.prefix?.trim() ?? ''

/** Finds the IDs of the providers with this ID or, if there is none, with this alias. */
export const findProviders = (catalog: Catalog, name: string): string[] =>
  getDefinition(catalog, name)
    ? [name]
    : Object.keys(catalog).filter((id) => getBuiltInNames(catalog, id).includes(name))

/** Returns a provider's ID and its names in the catalog. */
export function getBuiltInNames(catalog: Catalog, provider: string): readonly string[] {
  const definition = getDefinition(catalog, provider)
  return [provider, definition?.alias?.trim() ?? provider, getCatalogAlias(provider, definition)]
}

/** Returns the problem with a provider name that is an alias of several providers, or `undefined` for any other name. */
export function findSharedAliasProblem(catalog: Catalog, name: string): string | undefined {
  const owners = findProviders(catalog, name)
  return owners.length > 1
    ? `must not be "${name}", an alias of ${owners.map((id) => `"${id}"`).join(' and ')}`
    : undefined
}
