import { once } from './lib/once.ts'
import type { Management } from './management/management.ts'

type Resource = Exclude<keyof Management, 'explain'>
type Operation = (...args: unknown[]) => Promise<unknown>
type Operations = Partial<Record<string, Partial<Record<string, Operation>>>>

/** Every operation of every resource. */
const operations: { readonly [R in Resource]: Readonly<Record<keyof Management[R], true>> } = {
  keys: { list: true, get: true, create: true, update: true, put: true, delete: true },
  settings: { get: true, update: true },
  combos: { list: true, get: true, create: true, update: true, put: true, delete: true },
  connections: { list: true, get: true, create: true, update: true, put: true, delete: true },
  customModels: { list: true, create: true, put: true, delete: true },
  aliases: { list: true, set: true, delete: true },
  providers: { list: true, get: true, update: true },
  health: { list: true, reset: true },
  damagedRecords: { get: true, put: true, delete: true },
}

/**
 * The management operations, loaded with the first call: a host that only routes requests never loads the code that validates
 * administrators' input.
 */
export function deferredManagement(load: () => Promise<Management<unknown>>): Management<unknown> {
  const loaded = once(load)

  const deferred =
    (resource: string, name: string): Operation =>
    async (...args) => {
      const all = (await loaded()) as unknown as Operations // of the names in the table above
      return all[resource]?.[name]?.(...args)
    }

  const resources = Object.entries(operations).map(([resource, names]) => [
    resource,
    Object.fromEntries(Object.keys(names).map((name) => [name, deferred(resource, name)])),
  ])
  return { ...Object.fromEntries(resources), explain: async (request: unknown) => (await loaded()).explain(request) }
}
