import { assertNever } from '../lib/assert-never.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { comboFields } from '../types/records/combo-fields.ts'
import { connectionFields } from '../types/records/connection-fields.ts'
import { groupFields } from '../types/records/group-fields.ts'
import { keyFields } from '../types/records/key-fields.ts'
import { aliasFields, customModelFields, providerFields } from '../types/records/model-fields.ts'
import { previousKeyFields } from '../types/records/previous-keys.ts'
import type { RecordField, RecordFields } from '../types/records/record-fields.ts'
import { ruleFields } from '../types/records/rule-fields.ts'
import { settingsFields } from '../types/records/settings-fields.ts'
import type { Shape, ShapeFields } from '../types/records/shapes.ts'
import type { CustomModel, RequestRules } from '../types.ts'
import {
  ALIASES_PREFIX,
  type AliasRecord,
  COMBOS_PREFIX,
  CONNECTIONS_PREFIX,
  type ComboRecord,
  type ConnectionRecord,
  CUSTOM_MODELS_PREFIX,
  GROUPS_PREFIX,
  type GroupRecord,
  GUARDS_PREFIX,
  KEYS_PREFIX,
  type KeyRecord,
  PREVIOUS_KEYS_PREFIX,
  PROVIDERS_PREFIX,
  type PreviousKeyRecord,
  type ProviderRecord,
  type StoredGuard,
} from './record-collections.ts'

interface RecordReading<T> {
  record: T
  /** One sentence for each field whose reading differs from the stored value. Never contains values, which may be secrets. */
  problems: string[]
}

/**
 * Reads a record that a restore, another program, another release, or a bug may have written. Replaces invalid fields as their descriptions specify
 * (types/records), and keeps unknown fields. If the record has no usable identity or models, returns a description of the problem, and the record is
 * skipped.
 */
export type Reader<T> = (stored: JsonObject, id: string) => RecordReading<T> | string

const isNonBlankString = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isFiniteNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value)
const isPositiveNumber = (value: unknown): value is number => typeof value === 'number' && value > 0

/** Returns whether a value has the type of this shape. Ignores limits, because they only apply to input and may change. */
function matchesShape(shape: Shape, value: unknown): boolean {
  switch (shape.type) {
    case 'text':
      return typeof value === 'string'
    case 'flag':
      return typeof value === 'boolean'
    case 'tag':
      return typeof value === 'boolean' || typeof value === 'string'
    case 'time':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value))
    case 'number':
      if (shape.isReadAsAmount) return isPositiveNumber(value)
      return shape.isInteger ? Number.isSafeInteger(value) && isPositiveNumber(value) : isFiniteNumber(value)
    case 'choice':
      if (shape.orObject && isObject(value)) return value.mode === 'auto'
      return typeof value === 'string' && (shape.isOpen || [...shape.of, ...(shape.disallowed ?? [])].includes(value))
    case 'list':
      if (!Array.isArray(value)) return false
      if (!shape.isAllOrNothing) return true
      return (value.length > 0 || !shape.isNonEmpty) && value.every((item) => matchesShape(shape.of, item))
    case 'map':
    case 'object':
      return isObject(value)
    case 'entry':
      return isValidEntry(value)
    default:
      return assertNever(shape)
  }
}

/**
 * Returns whether an entry is valid. Invalid conditions or parameters make the entire entry invalid: without them, it would match the wrong requests
 * or cost more.
 */
function isValidEntry(entry: unknown): boolean {
  if (!isObject(entry)) return isNonBlankString(entry)
  const { model, weight, when, where, voices, params } = entry
  const areObjects = [when, where, voices, params].every((value) => value === undefined || isObject(value))
  return isNonBlankString(model) && (weight === undefined || isFiniteNumber(weight)) && areObjects
}

/** Reads the fields of a record, or of an object in a record. Returns a description of the problem if an essential field is missing. */
function readFields(
  stored: JsonObject,
  fields: RecordFields,
  storageKey = '',
  pathPrefix = '',
): RecordReading<JsonObject> | string {
  const record = { ...stored }
  const problems: string[] = []
  const innerProblems: string[] = []
  for (const name in fields) {
    const field = fields[name]
    if (!field || field.isStored === false) continue
    const value = stored[name]
    if (field.isEssential) {
      const missingField = describeMissing(name, field.shape, value)
      if (missingField !== undefined) return missingField
    }
    if (value === undefined ? !field.isOptional : !isValidField(field, value, storageKey)) {
      const fallback = getFallback(field, stored, storageKey)
      if (fallback === undefined) delete record[name]
      else record[name] = fallback
      const description = fallback === undefined ? 'is ignored' : `is read as ${JSON.stringify(fallback)}`
      problems.push(`"${pathPrefix}${name}" is ${describeValue(value)} and ${description}`)
    }
    const contents = readContents(field.shape, record[name], pathPrefix + name)
    if (!contents) continue
    record[name] = contents.value
    innerProblems.push(...contents.problems)
  }
  return { record, problems: [...problems, ...innerProblems] }
}

const isValidField = ({ isStorageKey, readFrom, shape }: RecordField, value: unknown, storageKey: string) =>
  isStorageKey ? value === storageKey : readFrom === 'storageKey' ? isNonBlankString(value) : matchesShape(shape, value)

function describeMissing(name: string, shape: Shape, value: unknown): string | undefined {
  const isPresent = shape.type === 'text' ? isNonBlankString(value) : matchesShape(shape, value)
  if (!isPresent && shape.type === 'list') return `has no array "${name}"`
  if (!isPresent) return `has no "${name}"${shape.type === 'choice' ? ' known to this release' : ''}`
  if (shape.type !== 'list' || !Array.isArray(value)) return undefined
  const isUsable = value.length === 0 || value.some((item) => matchesShape(shape.of, item))
  return isUsable ? undefined : `has no usable ${shape.of.type} in "${name}"`
}

function getFallback(
  { shape, isOptional, isStorageKey, readFrom, fallback }: RecordField,
  stored: JsonObject,
  storageKey: string,
): unknown {
  if (isStorageKey || readFrom === 'storageKey') return storageKey
  if (readFrom !== undefined) return stored[readFrom]
  if (fallback !== undefined || isOptional) return fallback
  return shape.type === 'time' ? '1970-01-01T00:00:00.000Z' : ''
}

function describeValue(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? 'an invalid string' : `a ${typeof value}`
}

/** Reads the contents of a list or an object. Returns `undefined` if they are valid. */
function readContents(shape: Shape, value: unknown, path: string): { value: unknown; problems: string[] } | undefined {
  if (shape.type === 'list' && Array.isArray(value)) {
    const matchingItems = value.filter((item) => matchesShape(shape.of, item))
    const droppedCount = value.length - matchingItems.length
    if (droppedCount === 0) return undefined
    return {
      value: matchingItems,
      problems: [`"${path}" contains ${droppedCount} invalid items (not ${shape.of.type}), which are ignored`],
    }
  }
  const nestedFields = isObject(value) && getNestedFields(shape, value)
  const nestedRecord = nestedFields && readFields(value, nestedFields, '', `${path}.`)
  if (!nestedRecord || typeof nestedRecord === 'string' || nestedRecord.problems.length === 0) return undefined
  return { value: nestedRecord.record, problems: nestedRecord.problems }
}

/** Returns an object's members as fields, or `undefined` if the code that uses the object checks them. */
function getNestedFields(shape: Shape, value: JsonObject): RecordFields | undefined {
  if (shape.type === 'object') return shape.isCheckedOnUse ? undefined : shape.fields
  if (shape.type !== 'map') return undefined
  return Object.fromEntries(Object.keys(value).map((name) => [name, { shape: shape.of, isOptional: true }]))
}

function createReader<T>(fields: RecordFields): Reader<T> {
  return (stored, storageKey) =>
    readFields(stored, fields, storageKey) as (RecordReading<JsonObject> & RecordReading<T>) | string // the type is derived from the same fields
}

/** Reads signed records (keyring.ts). An unsigned record is listed and can be confirmed, but isn't accepted until it is. */
export function createSignedReader<T>(fields: RecordFields): Reader<T> {
  const readFields = createReader<T>(fields)
  return (stored, storageKey) => {
    const readResult = readFields(stored, storageKey)
    if (stored.mac === undefined && typeof readResult !== 'string')
      readResult.problems.push('"mac" is missing, so the record is rejected')
    return readResult
  }
}

const readCombo = createReader<ComboRecord>(comboFields)

/** Every type of record: the prefix of its storage keys, and its reader. */
export const recordKinds = {
  keys: { prefix: KEYS_PREFIX, read: createSignedReader<KeyRecord>(keyFields) },
  previousKeys: { prefix: PREVIOUS_KEYS_PREFIX, read: createSignedReader<PreviousKeyRecord>(previousKeyFields) },
  groups: { prefix: GROUPS_PREFIX, read: createSignedReader<GroupRecord>(groupFields) },
  /** Guards are checked when they are created, because few requests need the code that checks them. */
  guards: {
    prefix: GUARDS_PREFIX,
    read: ((record, name) => ({
      record: { ...record, name } as StoredGuard,
      problems: [],
    })) satisfies Reader<StoredGuard>,
  },
  connections: { prefix: CONNECTIONS_PREFIX, read: createReader<ConnectionRecord>(connectionFields) },
  combos: {
    prefix: COMBOS_PREFIX,
    read: ((stored, name) =>
      /^[a-zA-Z0-9_.-]+$/.test(name)
        ? readCombo(stored, name)
        : 'is stored under an invalid combo name') satisfies Reader<ComboRecord>,
  },
  customModels: { prefix: CUSTOM_MODELS_PREFIX, read: createReader<CustomModel>(customModelFields) },
  aliases: { prefix: ALIASES_PREFIX, read: createReader<AliasRecord>(aliasFields) },
  providers: { prefix: PROVIDERS_PREFIX, read: createReader<ProviderRecord>(providerFields) },
} as const

/** Reads the settings. */
export const readSettings = (stored: JsonObject): RecordReading<JsonObject> =>
  readFields(stored, settingsFields) as RecordReading<JsonObject> // no field of the settings is essential

/** Reads the rules in a stored record, without invalid values. Returns `undefined` if there are none. */
export function readRules(record: Readonly<{ [Member in keyof RequestRules]?: unknown }>): RequestRules | undefined {
  const rules: RequestRules = {}
  const health = readNumbers(record.health, ruleFields.health)
  const timeouts = readNumbers(record.timeouts, ruleFields.timeouts)
  if (health) rules.health = health
  if (isPositiveNumber(record.maxAttempts)) rules.maxAttempts = record.maxAttempts
  if (timeouts) rules.timeouts = timeouts
  return Object.keys(rules).length > 0 ? rules : undefined
}

function readNumbers<const M extends ShapeFields>(value: unknown, fields: M) {
  if (!isObject(value)) return undefined
  const amounts: { [Name in keyof M]?: number } = {}
  for (const name of Object.keys(fields)) {
    const amount = value[name]
    if (isPositiveNumber(amount)) Object.assign(amounts, { [name]: amount })
  }
  return Object.keys(amounts).length > 0 ? amounts : undefined
}
