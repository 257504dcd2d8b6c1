import { gatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import type { CredentialSource, SharedCredentialSource, Storage } from '../types.ts'

/** Records that the app defines in code. They replace stored records with the same storage key, and can't be changed. */
export interface CodeRecords {
  /** The records in their stored form, by storage key. */
  readonly values: ReadonlyMap<string, string>
  /** The settings that are defined in code. */
  readonly settings: JsonObject
  /** Credentials, and functions that return them, by `codeSecretId`. They aren't part of the records, so they are never stored. */
  readonly secrets: Map<string, CodeSecret>
  /** Functions that determine whether a request uses a combo entry. `when.function` refers to them by number, starting at 1. */
  readonly conditions: readonly EntryConditionFunction[]
  /** Functions that determine whether a response is unwanted, by the combo's name. */
  readonly responseConditions: ReadonlyMap<string, readonly ResponseConditionCheck[]>
  /** What happens to a request if such a function fails. */
  readonly onRouteError?: 'fail' | 'ignore' | undefined
}

/** Decides whether a request uses a combo entry. */
export type EntryConditionFunction = (request: object, context: { signal: AbortSignal }) => unknown

/** Decides whether the next target is tried after a response. */
export type ResponseConditionCheck = (response: object, request: object, context: { signal: AbortSignal }) => unknown

/** A connection's credential, or the function that returns it. */
export type CodeSecret = string | CredentialSource | SharedCredentialSource

/** Contains the current records that are defined in code. */
export interface CodeLayer {
  records: CodeRecords
}

/** Creates a layer without records. */
export const createCodeLayer = (): CodeLayer => ({
  records: { values: new Map(), settings: {}, secrets: new Map(), conditions: [], responseConditions: new Map() },
})

/** Returns the name of a connection's credential. It differs after a reload that changes the connection. */
export const codeSecretId = ({ id, updatedAt }: { id: string; updatedAt: string }): string => `${updatedAt} ${id}`

/** Adds the records defined in code to a store. Rejects changes to them with `DEFINED_IN_CODE`. */
export function withCodeRecords(storage: Storage, code: CodeLayer): Storage {
  const rejectWrite = (key: string) =>
    code.records.values.has(key) ? Promise.reject<never>(gatewayError('DEFINED_IN_CODE', { data: { key } })) : undefined

  return {
    ...storage,
    async get(key) {
      const value = code.records.values.get(key)
      return value === undefined ? storage.get(key) : { value, version: CODE_VERSION }
    },
    set: (key, ...args) => rejectWrite(key) ?? storage.set(key, ...args),
    delete: (key, ...args) => rejectWrite(key) ?? storage.delete(key, ...args),
    async list(prefix, options = {}) {
      const { after = '', limit } = options
      const { values } = code.records
      const codeEntries = [...values].filter(([key]) => key.startsWith(prefix) && key > after)
      const stored = await storage.list(prefix, options)
      if (codeEntries.length === 0) return stored
      const storedEntries = stored.filter(({ key }) => !values.has(key))
      const allEntries = [
        ...storedEntries,
        ...codeEntries.map(([key, value]) => ({ key, value, version: CODE_VERSION })),
      ]
      allEntries.sort((a, b) => (a.key < b.key ? -1 : 1))
      return allEntries.slice(0, limit)
    },
  }
}

/** The version of all records defined in code. */
export const CODE_VERSION = 'code'
