import type { Management } from './operations.ts'

type Call = (...args: never) => unknown

/** The names of operations: `true` for each, in the resources that they belong to. */
type NamesOf<Resource> = Resource extends Call ? true : { readonly [Name in keyof Resource]: NamesOf<Resource[Name]> }

/** Those of resources whose records have ids. */
const each = { list: true, create: true, get: true, update: true, delete: true, put: true } as const

/** Those of limits as they stand. */
const limits = { get: true, reset: true, settle: true } as const

/** Every operation of `gateway.api`; one that is missing does not compile. The table of operations is loaded with the management. */
const names: NamesOf<Management> = {
  keys: { ...each, rotate: true, limits },
  groups: { ...each, limits },
  settings: { get: true, update: true, limits },
  combos: each,
  connections: { ...each, discover: true, test: true },
  models: { published: true },
  customModels: { list: true, create: true, delete: true, put: true },
  aliases: { list: true, set: true, delete: true },
  providers: { list: true, get: true, update: true },
  cloud: {
    get: true,
    enable: true,
    sync: true,
    disable: true,
    check: true,
    sessions: { list: true, revoke: true },
  },
  usage: { summary: true, requests: true, request: true },
  explain: true,
  overview: true,
  info: true,
  openapi: true,
  damagedRecords: { get: true, put: true, delete: true },
  health: { list: true, reset: true },
}

/** `gateway.api` before the code of the operations is loaded: each call of any of them asks for it. */
export function deferredManagement(load: () => Promise<Management<unknown>>): Management<unknown> {
  return deferred(names, load) as Management<unknown> // the names are those of all its operations
}

function deferred(tree: object, load: () => Promise<object>): object {
  return Object.fromEntries(
    Object.entries(tree).map(([name, inner]) => {
      const of = async () => Reflect.get(await load(), name)
      const call = async (...args: unknown[]) => Reflect.apply(await of(), undefined, args)
      return [name, inner === true ? call : deferred(inner, of)]
    }),
  )
}
