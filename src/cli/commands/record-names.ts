import type { NamedOperation } from '../../admin/operation-table.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Problem } from '../problem.ts'
import { type ActionCall, createMissingProblem, findId, type NamedRecord } from './command.ts'
import { callOperation } from './operation-call.ts'
import { describeOutput, getProperties } from './operation-output.ts'

/** Where to find an operation's record. */
interface RecordLookup {
  noun: string
  /** The path that lists the records, such as `/api/keys`. */
  collection: string
  operations: readonly NamedOperation[]
}

/** Returns the noun for one record of a collection, such as `key` for `/api/keys`. */
export const toNoun = (collection: string): string =>
  collection.slice(collection.lastIndexOf('/') + 1).replace(/(?<=s)es$|s$/, '')

/** Finds the ID of the record that a word refers to. Looks up names if the records have them. */
export async function findRequestedId(idOrName: string, call: ActionCall, lookup: RecordLookup): Promise<string> {
  const lister = findLister(lookup)
  return lister?.isNamed ? findId(idOrName, lookup.noun, () => lister.list(call)) : idOrName
}

/** Replaces the names of keys, groups, and connections in an input with their IDs. */
export async function resolveNames(
  input: JsonObject,
  call: ActionCall,
  operations: readonly NamedOperation[],
): Promise<JsonObject> {
  const fields = Object.entries(input).map(async ([field, value]) => {
    const noun = field.replace(/Id$/, '')
    const lister = findLister({ noun, collection: `/api/${noun}s`, operations })
    const isName = typeof value === 'string' && value.trim() !== '' && field !== 'key'
    if (!isName || !lister?.isNamed) return [field, value]
    const all = lister.list(call)
    if (noun === 'connection' && !(await all).some(({ name }) => name === value)) return [field, value] // usage may name a deleted connection
    return [field, await findId(value, noun, () => all)]
  })
  return Object.fromEntries(await Promise.all(fields))
}

/** If a request failed with a 404, creates a problem that suggests the record with the most similar ID. */
export async function suggestId(error: unknown, call: ActionCall, lookup: RecordLookup): Promise<Problem | undefined> {
  const lister = findLister(lookup)
  if (!lister || lister.isNamed || !(error instanceof Error && 'status' in error && error.status === 404))
    return undefined
  const ids = (await lister.list(call)).map(({ id }) => id)
  return createMissingProblem(lookup.noun, call.words[0] ?? '', ids)
}

/** Finds the operation that lists records. `isNamed` means that the records have names, which commands accept in place of IDs. */
function findLister({ collection, operations }: RecordLookup) {
  const operation = operations.find(({ method, path }) => method === 'GET' && path === collection)
  if (!operation) return undefined
  const lists = Object.entries(getProperties(describeOutput(operation)))
  const [found] = lists.filter(([, { items }]) => 'id' in getProperties(Object(items)))
  if (!found) return undefined
  const [name, { items }] = found
  const fields = getProperties(Object(items))
  return {
    isNamed: 'name' in fields && 'createdAt' in fields,
    async list(call: ActionCall): Promise<readonly NamedRecord[]> {
      return Reflect.get(await callOperation(operation, [], call), name)
    },
  }
}
