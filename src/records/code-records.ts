import { gatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import type { CredentialSource, SharedCredentialSource, Storage } from '../types.ts'

/** Records that the app defines in code (src/config/code-config.ts). They replace stored records with the same storage key, and can't be changed. */
export interface CodeRecords {
  /** The records in their stored form, by storage key. */
  readonly values: ReadonlyMap<string, string>
  /** The defined settings. */
  readonly settings: JsonObject
  /** Credentials by connection ID. They aren't part of the records, so they are never stored. */
  readonly credentials: ReadonlyMap<string, string>
  /** Functions that return credentials, by connection ID. */
  readonly sources: ReadonlyMap<string, CredentialSource | SharedCredentialSource>
}

/** Used if nothing is defined in code. */
export const NO_CODE: CodeRecords = { values: new Map(), settings: {}, credentials: new Map(), sources: new Map() }

/** Whether a record was defined in code. */
export const isDefinedInCode = (record: object): boolean => 'source' in record && record.source === 'code'

/** Throws `DEFINED_IN_CODE` for a record that was defined in code. */
export function requireStored(record: object): void {
  if (isDefinedInCode(record)) throw gatewayError('DEFINED_IN_CODE')
}

/** Adds the records defined in code to a storage. Rejects changes to them with `DEFINED_IN_CODE`. */
export function withCodeRecords(storage: Storage, { values }: CodeRecords): Storage {
  if (values.size === 0) return storage

  const refuse = (key: string) =>
    values.has(key) ? Promise.reject<never>(gatewayError('DEFINED_IN_CODE', { data: { key } })) : undefined

  return {
    ...storage,
    async get(key) {
      const value = values.get(key)
      return value === undefined ? storage.get(key) : { value, version: CODE_VERSION }
    },
    set: (key, ...args) => refuse(key) ?? storage.set(key, ...args),
    delete: (key, ...args) => refuse(key) ?? storage.delete(key, ...args),
    async list(prefix, options = {}) {
      const { after = '', limit } = options
      const own = [...values].filter(([key]) => key.startsWith(prefix) && key > after)
      const stored = await storage.list(prefix, options)
      if (own.length === 0) return stored
      const others = stored.filter(({ key }) => !values.has(key))
      const all = [...others, ...own.map(([key, value]) => ({ key, value, version: CODE_VERSION }))]
      all.sort((a, b) => (a.key < b.key ? -1 : 1))
      return all.slice(0, limit)
    },
  }
}

const CODE_VERSION = 'code'
