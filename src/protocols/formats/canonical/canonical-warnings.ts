import { gatewayError } from '../../../errors.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'

/** How a field was changed because the target doesn't accept the original. */
export type Change = 'dropped' | 'clamped' | 'replaced' | 'moved' | 'added'

/**
 * Collects what a translation drops or changes, under the client's field names. In strict mode, rejects instead. Fields are named by their path in
 * the client's request (`messages[2].name`), or by their canonical name if only that is known.
 */
export interface Warnings {
  /** Records that the field was dropped. The response may be slightly worse. */
  recordDrop(field: string): void
  /** Records that the field was changed: `clamped` to a range, `replaced` by a similar value, `moved`, or `added` because the target requires it. */
  recordChange(field: string, change: Change): void
  /**
   * Rejects the request, because its meaning would change without the field. Throws `INVALID_REQUEST` with the field's name in the message and in
   * `data.param`.
   */
  reject(field: string, reason: string): never
  /** Sets which of several names the client used for a canonical field. */
  setFieldName(field: string, name: string): void
  /** Sets how the client spells words in field names, keyed by the format's spelling. */
  setSpelling(words: ReadonlyMap<string, string>): void
  /**
   * Sets an object's path in the client's request, so that a later warning can name it. Copies made by spreading keep the path. `names` contains the
   * client's names for fields that it calls something else. A name that starts with a slash is a complete path.
   */
  setPath(part: object, path: string, names?: FieldNames): void
  /** Labels a path, such as `tool "f"`. Errors about the path and the fields below it contain the label. */
  setLabel(path: string, label: string): void
  /** Returns the path of an object or of one of its fields. If the object has no path, returns `fallback` and the canonical name of the field. */
  getPath(part: object, fallback: string, field?: string): string
  /** Lists each dropped or changed field once, in discovery order: `dropped:seed`, `clamped:temperature`. */
  list(): string[]
}

export type FieldNames = Readonly<Record<string, string>>

interface WarningOptions {
  isStrict: boolean
  /** The client's names for canonical fields (`Translator.fieldNames`). */
  names?: FieldNames
}

const LOCATION_SYMBOL = Symbol('path in the request')

interface LocatedObject {
  [LOCATION_SYMBOL]?: { path: string; names: FieldNames }
}

export function createWarnings({ isStrict, names = {} }: WarningOptions): Warnings {
  const recordedWarnings = new Set<string>()
  const usedNames = new Map<string, string>()
  const labels = new Map<string, string>()
  let spelling: ReadonlyMap<string, string> = new Map()
  const getName = (field: string) => {
    const name = usedNames.get(field) ?? names[field] ?? field
    return spelling.size === 0 ? name : name.replace(/\w+/g, (word) => spelling.get(word) ?? word)
  }

  function recordChange(field: string, change: Change) {
    const name = getName(field)
    if (isStrict)
      reject(
        field,
        `it would be ${change}, which strict mode does not allow. Remove it, or use a target that supports it.`,
      )
    recordedWarnings.add(`${change}:${name}`)
  }

  function reject(field: string, reason: string): never {
    const param = getName(field)
    const label = getLabel(field)
    const message = label === undefined ? `"${param}": ${reason}` : `"${param}": ${label}: ${reason}`
    throw gatewayError('INVALID_REQUEST', { message, data: { param } })
  }

  /** Returns the label of the innermost labeled path that contains the field. */
  function getLabel(field: string): string | undefined {
    const label = labels.get(field)
    if (label !== undefined || field === '') return label
    return getLabel(field.slice(0, Math.max(field.lastIndexOf('.'), field.lastIndexOf('['), 0)))
  }

  return {
    recordChange,
    reject,
    recordDrop: (field) => recordChange(field, 'dropped'),
    setFieldName: (field, name) => void usedNames.set(field, name),
    setSpelling(words) {
      spelling = words
    },
    setPath: (part, path, fields = {}) => void Object.assign(part, { [LOCATION_SYMBOL]: { path, names: fields } }),
    setLabel: (path, label) => void labels.set(path, label),
    getPath,
    list: () => [...recordedWarnings].filter((warning) => !isInsideDropped(warning, recordedWarnings)),
  }
}

function getPath(part: object, fallback: string, field?: string): string {
  const { [LOCATION_SYMBOL]: location }: LocatedObject = part
  const path = location?.path ?? fallback
  if (field === undefined) return path
  const name = location?.names[field] ?? field
  return name.startsWith('/') ? name.slice(1) : `${path}.${name}`
}

/** Returns whether an entire object that contains the field was already dropped. */
function isInsideDropped(warning: string, recordedWarnings: ReadonlySet<string>): boolean {
  if (!warning.startsWith('dropped:')) return false
  for (let index = warning.indexOf('.'); index !== -1; index = warning.indexOf('.', index + 1))
    if (recordedWarnings.has(warning.slice(0, index))) return true
  return false
}

/**
 * Collects the parts of a response that were changed or dropped for the client. They never cause an error, because the response has already been paid
 * for.
 */
export interface ResponseWarnings {
  /** Records a dropped part. `name` is the provider's name for it (`code_execution_tool_result`), or the canonical name. */
  recordDrop(name: string): void
  /** Records a part that was replaced by the closest equivalent in the client's format. `name` is the provider's name for it (`pause_turn`). */
  recordReplacement(name: string): void
  /** Lists each dropped or changed field once, in discovery order: `dropped:answer.citations`, `replaced:answer.pause_turn`. */
  list(): readonly string[]
}

export function createResponseWarnings(): ResponseWarnings {
  let recordedWarnings: Set<string> | undefined // created on first use, because most responses drop nothing

  function record(change: Change, name: string) {
    recordedWarnings ??= new Set()
    if (recordedWarnings.size < MAX_NAMES) recordedWarnings.add(`${change}:answer.${name.slice(0, MAX_NAME_LENGTH)}`)
  }

  return {
    recordDrop: (name) => record('dropped', name),
    recordReplacement: (name) => record('replaced', name),
    list: () => (recordedWarnings ? [...recordedWarnings] : NO_WARNINGS),
  }
}

/** Maximum number of names, because providers choose them. */
const MAX_NAMES = 100
const MAX_NAME_LENGTH = 100

const NO_WARNINGS: readonly string[] = []

/** The format's names for a canonical field, with `.` before nested fields. If a request contains several of them, the first one counts. */
export type FieldSynonyms = Readonly<Record<string, readonly string[]>>

/** Records which of each field's names the client used, so warnings can quote them. */
export function recordFieldNames(body: JsonObject, synonyms: FieldSynonyms, warnings: Warnings): void {
  for (const [field, names] of Object.entries(synonyms)) {
    const name = names.find((path) => getValue(body, path) !== undefined)
    if (name !== undefined) warnings.setFieldName(field, name)
  }
}

const getValue = (body: unknown, path: string): unknown =>
  path.split('.').reduce((value, name) => (isObject(value) ? (value[name] ?? undefined) : undefined), body)
