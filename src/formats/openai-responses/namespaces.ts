import { isObject } from '../../lib/json.ts'
import type { CanonicalRequest } from '../canonical/request.ts'

/*
 * Clients can group their functions in namespaces, and a call then names both. Other formats have plain names only: a function is told as
 * `<namespace>__<name>`, and its calls get their two names back.
 */

/** The two names of a function by the one that it is told under. */
export type Namespaces = Record<string, { namespace: string; name: string }>

export const plainName = (namespace: string, name: string): string =>
  namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`

/** The names of a called tool as the client knows it. */
export function clientName({ client }: CanonicalRequest, name: string): { name: string; namespace?: string } {
  const namespaces = client?.namespaces
  const known = isObject(namespaces) && Object.hasOwn(namespaces, name) ? namespaces[name] : undefined
  if (!isObject(known) || typeof known.name !== 'string' || typeof known.namespace !== 'string') return { name }
  return { name: known.name, namespace: known.namespace }
}
