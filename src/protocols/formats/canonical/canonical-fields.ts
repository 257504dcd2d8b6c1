import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { CacheBreakpoint } from './canonical-parts.ts'
import type { Warnings } from './canonical-warnings.ts'
import { isExactNumber } from './exact-json.ts'

/**
 * Reads the fields of an object in a client's request. Rejects a field of the wrong type and names its path. Treats a null field as absent. Fields
 * that are never read are unknown to the canonical format.
 */
export interface Fields {
  readonly value: JsonObject
  readonly path: string
  getPath(name: string): string
  string(name: string): string | undefined
  number(name: string): number | undefined
  boolean(name: string): boolean | undefined
  object(name: string): JsonObject | undefined
  /** Reads an object of strings, such as `metadata`. Rejects values that aren't strings. */
  stringsByName(name: string): Record<string, string> | undefined
  /** Reads an object of numbers. Rejects values that aren't numbers. */
  numbersByName(name: string): Record<string, number> | undefined
  fields(name: string): Fields | undefined
  list(name: string): unknown[] | undefined
  strings(name: string): string[] | undefined
  /** Reads a string that must be one of `allowedValues`. Rejects any other value. */
  oneOf<T extends string>(name: string, allowedValues: readonly T[]): T | undefined
  /** Reads a string that should be one of `allowedValues`. Drops any other value with a warning. */
  oneOfOrDrop<T extends string>(name: string, allowedValues: readonly T[]): T | undefined
  any(name: string): unknown
  /** Marks fields that need no translation as known. */
  ignore(...names: string[]): void
  /** Warns about every field that was neither read nor ignored. Call it last. */
  dropUnread(): void
}

export function readFields(object: JsonObject, path: string, warnings: Warnings): Fields {
  const knownNames = new Set<string>()
  const getPath = (name: string) => (path === '' ? name : `${path}.${name}`)

  function any(name: string): unknown {
    knownNames.add(name)
    return object[name] ?? undefined
  }

  function read<T>(name: string, isExpected: (value: unknown) => value is T, expected: string): T | undefined {
    const value = any(name)
    if (value === undefined || isExpected(value)) return value
    return warnings.reject(getPath(name), `must be ${expected}.`)
  }

  function readByName<T>(
    name: string,
    isExpected: (value: unknown) => value is T,
    expected: string,
  ): Record<string, T> | undefined {
    const nestedObject = read(name, isObject, 'an object')
    if (!nestedObject) return undefined
    const valuesByName: Record<string, T> = {}
    for (const [key, value] of Object.entries(nestedObject)) {
      if (isExpected(value)) valuesByName[key] = value
      else warnings.reject(`${getPath(name)}.${key}`, `must be ${expected}.`)
    }
    return valuesByName
  }

  function readNumber(name: string): number | undefined {
    const value = any(name)
    if (!isExactNumber(value)) return read(name, isNumber, 'a number')
    warnings.recordChange(getPath(name), 'clamped') // an integer too large for a JavaScript number
    return Number(value.rawJSON)
  }

  const fields: Fields = {
    value: object,
    path,
    getPath,
    any,
    string: (name) => read(name, isString, 'a string'),
    number: readNumber,
    boolean: (name) => read(name, isBoolean, 'true or false'),
    object: (name) => read(name, isObject, 'an object'),
    stringsByName: (name) => readByName(name, isString, 'a string'),
    numbersByName: (name) => readByName(name, isNumber, 'a number'),
    list: (name) => read(name, isList, 'an array'),
    strings: (name) => read(name, isStrings, 'an array of strings'),
    fields(name) {
      const nestedObject = fields.object(name)
      return nestedObject && readFields(nestedObject, getPath(name), warnings)
    },
    oneOf(name, allowedValues) {
      const value = fields.string(name)
      const match = allowedValues.find((candidate) => candidate === value)
      if (value !== undefined && match === undefined)
        warnings.reject(getPath(name), `must be one of ${allowedValues.join(', ')}.`)
      return match
    },
    oneOfOrDrop(name, allowedValues) {
      const value = fields.string(name)
      const match = allowedValues.find((candidate) => candidate === value)
      if (value !== undefined && match === undefined) warnings.recordDrop(getPath(name))
      return match
    },
    ignore(...names) {
      for (const name of names) knownNames.add(name)
    },
    dropUnread() {
      for (const name in object) if (!knownNames.has(name) && object[name] !== null) warnings.recordDrop(getPath(name))
    },
  }
  return fields
}

/** Reads a list element's fields. Rejects an element that isn't an object. */
export function readElementFields(value: unknown, path: string, warnings: Warnings): Fields {
  return isObject(value) ? readFields(value, path, warnings) : warnings.reject(path, 'must be an object.')
}

/** Reads the objects in a list. A single object is treated as a list of one, because Google accepts that. */
export function readObjectList(fields: Fields, name: string, warnings: Warnings): Fields[] {
  const path = fields.getPath(name)
  const value = fields.any(name)
  if (isObject(value)) return [readElementFields(value, path, warnings)]
  return (fields.list(name) ?? []).map((entry, index) => readElementFields(entry, `${path}[${index}]`, warnings))
}

/** Reads a string, and rejects the request if it is missing. */
export const requireString = (fields: Fields, name: string, warnings: Warnings): string =>
  fields.string(name) ?? warnings.reject(fields.getPath(name), 'is required.')

/** Reads an inner object, and rejects the request if it is missing. */
export const requireFields = (fields: Fields, name: string, warnings: Warnings): Fields =>
  fields.fields(name) ?? warnings.reject(fields.getPath(name), 'is required.')

/** Reads a cache breakpoint. Drops an unsupported TTL with a warning. */
export function readCacheBreakpoint(
  breakpoint: Fields | undefined,
  ttls: readonly NonNullable<CacheBreakpoint['ttl']>[],
  warnings: Warnings,
): CacheBreakpoint | undefined {
  if (!breakpoint) return undefined
  const ttl = breakpoint.oneOfOrDrop('ttl', ttls)
  const cache: CacheBreakpoint = ttl ? { ttl } : {}
  warnings.setPath(cache, breakpoint.path)
  return cache
}

const isString = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'
const isList = (value: unknown): value is unknown[] => Array.isArray(value)
const isStrings = (value: unknown): value is string[] => isList(value) && value.every(isString)
