import { assertNever } from '../lib/assert-never.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { comboFields } from '../types/records/combo-fields.ts'
import { connectionFields } from '../types/records/connection-fields.ts'
import { groupFields } from '../types/records/group-fields.ts'
import { keyFields } from '../types/records/key-fields.ts'
import { aliasFields, customModelFields, providerFields } from '../types/records/model-fields.ts'
import { previousKeyFields } from '../types/records/previous-keys.ts'
import type { RecordField, RecordFields } from '../types/records/record-fields.ts'
import { ruleMembers } from '../types/records/rule-fields.ts'
import { settingsFields } from '../types/records/settings-fields.ts'
import type { Members, Shape } from '../types/records/shapes.ts'
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

interface ReadRecord<T> {
  record: T
  /** One sentence for each field whose reading differs from the stored value. Never contains values, which may be secrets. */
  problems: string[]
}

/**
 * Reads a record that a restore, another program, another release, or a bug may have written. Replaces invalid fields as their descriptions specify
 * (types/records), and keeps unknown fields. If the record has no usable identity or models, returns a description of the problem, and the record is
 * skipped.
 */
export type Reader<T> = (stored: JsonObject, id: string) => ReadRecord<T> | string

const isName = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value)
const isAmount = (value: unknown): value is number => typeof value === 'number' && value > 0

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
      if (shape.isReadAsAmount) return isAmount(value)
      return shape.isWhole ? Number.isSafeInteger(value) && isAmount(value) : isNumber(value)
    case 'choice':
      if (shape.orObject && isObject(value)) return value.mode === 'auto'
      return typeof value === 'string' && (shape.isOpen || [...shape.of, ...(shape.refused ?? [])].includes(value))
    case 'list':
      if (!Array.isArray(value)) return false
      if (!shape.isReadWhole) return true
      return (value.length > 0 || !shape.isNonEmpty) && value.every((item) => matchesShape(shape.of, item))
    case 'map':
    case 'object':
      return isObject(value)
    case 'entry':
      return isEntry(value)
    default:
      return assertNever(shape)
  }
}

/**
 * Returns whether an entry is valid. Invalid conditions or parameters make the entire entry invalid: without them, it would match the wrong requests
 * or cost more.
 */
function isEntry(entry: unknown): boolean {
  if (!isObject(entry)) return isName(entry)
  const { model, weight, when, where, voices, params } = entry
  const areObjects = [when, where, voices, params].every((value) => value === undefined || isObject(value))
  return isName(model) && (weight === undefined || isNumber(weight)) && areObjects
}

/** Reads the fields of a record, or of an object in a record. Returns a description of the problem if an essential field is missing. */
function readFields(
  stored: JsonObject,
  fields: RecordFields,
  storageKey = '',
  where = '',
): ReadRecord<JsonObject> | string {
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
    if (value === undefined ? !field.isOptional : !isValid(field, value, storageKey)) {
      const as = getFallback(field, stored, storageKey)
      if (as === undefined) delete record[name]
      else record[name] = as
      const description = as === undefined ? 'is ignored' : `is read as ${JSON.stringify(as)}`
      problems.push(`"${where}${name}" is ${describeValue(value)} and ${description}`)
    }
    const inner = readContents(field.shape, record[name], where + name)
    if (!inner) continue
    record[name] = inner.value
    innerProblems.push(...inner.problems)
  }
  return { record, problems: [...problems, ...innerProblems] }
}

const isValid = ({ isStorageKey, readFrom, shape }: RecordField, value: unknown, storageKey: string) =>
  isStorageKey ? value === storageKey : readFrom === 'storageKey' ? isName(value) : matchesShape(shape, value)

function describeMissing(name: string, shape: Shape, value: unknown): string | undefined {
  const isPresent = shape.type === 'text' ? isName(value) : matchesShape(shape, value)
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
function readContents(shape: Shape, value: unknown, where: string): { value: unknown; problems: string[] } | undefined {
  if (shape.type === 'list' && Array.isArray(value)) {
    const matchingItems = value.filter((item) => matchesShape(shape.of, item))
    const droppedCount = value.length - matchingItems.length
    if (droppedCount === 0) return undefined
    return {
      value: matchingItems,
      problems: [`"${where}" contains ${droppedCount} invalid items (not ${shape.of.type}), which are ignored`],
    }
  }
  const members = isObject(value) && getMembers(shape, value)
  const reading = members && readFields(value, members, '', `${where}.`)
  if (!reading || typeof reading === 'string' || reading.problems.length === 0) return undefined
  return { value: reading.record, problems: reading.problems }
}

/** Returns an object's members as fields, or `undefined` if the code that uses the object checks them. */
function getMembers(shape: Shape, value: JsonObject): RecordFields | undefined {
  if (shape.type === 'object') return shape.isReadWhole ? undefined : shape.fields
  if (shape.type !== 'map') return undefined
  return Object.fromEntries(Object.keys(value).map((name) => [name, { shape: shape.of, isOptional: true }]))
}

function createReader<T>(fields: RecordFields): Reader<T> {
  return (stored, storageKey) =>
    readFields(stored, fields, storageKey) as (ReadRecord<JsonObject> & ReadRecord<T>) | string // the type is derived from the same fields
}

/** Reads signed records (keyring.ts). An unsigned record is listed and can be confirmed, but isn't accepted until it is. */
export function createSignedReader<T>(fields: RecordFields): Reader<T> {
  const readFields = createReader<T>(fields)
  return (stored, storageKey) => {
    const reading = readFields(stored, storageKey)
    if (stored.mac === undefined && typeof reading !== 'string')
      reading.problems.push('"mac" is missing, so the record is rejected')
    return reading
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
export const readSettings = (stored: JsonObject): ReadRecord<JsonObject> =>
  readFields(stored, settingsFields) as ReadRecord<JsonObject> // no field of the settings is essential

/** Reads the rules in a stored record, without invalid values. Returns `undefined` if there are none. */
export function readRules(record: Readonly<{ [Member in keyof RequestRules]?: unknown }>): RequestRules | undefined {
  const rules: RequestRules = {}
  const health = readNumbers(record.health, ruleMembers.health)
  const timeouts = readNumbers(record.timeouts, ruleMembers.timeouts)
  if (health) rules.health = health
  if (isAmount(record.maxAttempts)) rules.maxAttempts = record.maxAttempts
  if (timeouts) rules.timeouts = timeouts
  return Object.keys(rules).length > 0 ? rules : undefined
}

function readNumbers<const M extends Members>(value: unknown, members: M) {
  if (!isObject(value)) return undefined
  const found: { [Name in keyof M]?: number } = {}
  for (const name of Object.keys(members)) {
    const amount = value[name]
    if (isAmount(amount)) Object.assign(found, { [name]: amount })
  }
  return Object.keys(found).length > 0 ? found : undefined
}
