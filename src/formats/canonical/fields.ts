import { isObject, type JsonObject } from '../../lib/json.ts'
import { isExactNumber } from './exact-json.ts'
import type { Warnings } from './warnings.ts'

/**
 * Reads the members of an object of a client's request. A member of the wrong type is refused by its path; null counts as absent. Members
 * that are never read are unknown to the canonical form.
 */
export interface Fields {
  readonly value: JsonObject
  /** The path of the object: `messages[2]`. */
  readonly at: string
  /** The path of a member: `messages[2].name`. */
  path(name: string): string
  text(name: string): string | undefined
  number(name: string): number | undefined
  flag(name: string): boolean | undefined
  object(name: string): JsonObject | undefined
  /** An object of strings, such as `metadata`; any other value in it is refused. */
  textsByName(name: string): Record<string, string> | undefined
  /** An object of numbers; any other value in it is refused. */
  numbersByName(name: string): Record<string, number> | undefined
  /** The members of an inner object. */
  fields(name: string): Fields | undefined
  list(name: string): unknown[] | undefined
  texts(name: string): string[] | undefined
  /** One of the words; any other is refused. */
  word<T extends string>(name: string, words: readonly T[]): T | undefined
  /** One of the words; any other is dropped with a warning. */
  wordOrDrop<T extends string>(name: string, words: readonly T[]): T | undefined
  any(name: string): unknown
  /** Marks members as known that need no translation. */
  ignore(...names: string[]): void
  /** Warns of every member that was not read or ignored. Call it last. */
  drop(): void
}

export function fieldsOf(object: JsonObject, path: string, warnings: Warnings): Fields {
  const known = new Set<string>()
  const pathOf = (name: string) => (path === '' ? name : `${path}.${name}`)

  function any(name: string): unknown {
    known.add(name)
    return object[name] ?? undefined
  }

  function read<T>(name: string, is: (value: unknown) => value is T, what: string): T | undefined {
    const value = any(name)
    if (value === undefined || is(value)) return value
    return warnings.refuse(pathOf(name), `must be ${what}.`)
  }

  function readByName<T>(
    name: string,
    is: (value: unknown) => value is T,
    what: string,
  ): Record<string, T> | undefined {
    const inner = read(name, isObject, 'an object')
    if (!inner) return undefined
    const found: Record<string, T> = {}
    for (const [key, value] of Object.entries(inner)) {
      if (is(value)) found[key] = value
      else warnings.refuse(`${pathOf(name)}.${key}`, `must be ${what}.`)
    }
    return found
  }

  function readNumber(name: string): number | undefined {
    const value = any(name)
    if (!isExactNumber(value)) return read(name, isNumber, 'a number')
    warnings.noteChanged(pathOf(name), 'clamped') // an integer that a JavaScript number cannot hold
    return Number(value.rawJSON)
  }

  const fields: Fields = {
    value: object,
    at: path,
    path: pathOf,
    any,
    text: (name) => read(name, isText, 'a string'),
    number: readNumber,
    flag: (name) => read(name, isFlag, 'true or false'),
    object: (name) => read(name, isObject, 'an object'),
    textsByName: (name) => readByName(name, isText, 'a string'),
    numbersByName: (name) => readByName(name, isNumber, 'a number'),
    list: (name) => read(name, isList, 'an array'),
    texts: (name) => read(name, isTexts, 'an array of strings'),
    fields(name) {
      const inner = fields.object(name)
      return inner && fieldsOf(inner, pathOf(name), warnings)
    },
    word(name, words) {
      const value = fields.text(name)
      const word = words.find((known) => known === value)
      if (value !== undefined && word === undefined)
        warnings.refuse(pathOf(name), `must be one of ${words.join(', ')}.`)
      return word
    },
    wordOrDrop(name, words) {
      const value = fields.text(name)
      const word = words.find((known) => known === value)
      if (value !== undefined && word === undefined) warnings.noteDropped(pathOf(name))
      return word
    },
    ignore(...names) {
      for (const name of names) known.add(name)
    },
    drop() {
      for (const name in object) if (!known.has(name) && object[name] !== null) warnings.noteDropped(pathOf(name))
    },
  }
  return fields
}

/** The members of an element of a list; one that is no object is refused. */
export function elementFields(value: unknown, path: string, warnings: Warnings): Fields {
  return isObject(value) ? fieldsOf(value, path, warnings) : warnings.refuse(path, 'must be an object.')
}

/** The objects in a list. One object counts as a list of one, as Google accepts it. */
export function entriesOf(fields: Fields, name: string, warnings: Warnings): Fields[] {
  const path = fields.path(name)
  const given = fields.any(name)
  if (isObject(given)) return [elementFields(given, path, warnings)]
  return (fields.list(name) ?? []).map((entry, index) => elementFields(entry, `${path}[${index}]`, warnings))
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
const isList = (value: unknown): value is unknown[] => Array.isArray(value)
const isTexts = (value: unknown): value is string[] => isList(value) && value.every(isText)
