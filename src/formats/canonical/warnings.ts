import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'

/** How something is changed that the target cannot accept as it is. */
export type Change = 'dropped' | 'clamped' | 'replaced' | 'moved' | 'added'

/**
 * Collects the losses of a translation, under the client's names for the fields. In strict mode every loss is refused. Fields are named by
 * their path in the client's request (`messages[2].name`), or by their canonical name where only that is known.
 */
export interface Warnings {
  /** Notes that the field is left out; the answer may be slightly worse. */
  noteDropped(field: string): void
  /**
   * Notes that the field is changed: `clamped` to the range of the target, `replaced` by a similar value, `moved` to another place, or
   * `added` because the target requires it.
   */
  noteChanged(field: string, change: Change): void
  /**
   * Refuses a field without which the request would mean something else. Throws `INVALID_REQUEST` with the name of the field in its message
   * and in `data.param`.
   */
  refuse(field: string, why: string): never
  /** Notes which of several names the client has used for a canonical field. */
  useName(field: string, name: string): void
  /** Sets the client's spelling of words in the names of fields, by the spelling of the format. */
  spell(words: ReadonlyMap<string, string>): void
  /**
   * Remembers where in the client's request an object stands, so that a loss found later can name it. Copies by spread remember it, too.
   * `names`: the client's names of fields that it names differently; a name that begins with a slash is a whole path.
   */
  place(part: object, path: string, names?: FieldNames): void
  /** Labels a path, such as `tool "f"`: refusals of the path and of fields below it contain the label. */
  label(path: string, label: string): void
  /**
   * The path of an object that was placed, or of one of its fields. For an object that was not placed: `otherwise`, with the canonical name
   * of the field.
   */
  pathOf(part: object, otherwise: string, field?: string): string
  /** `dropped:seed`, `clamped:temperature`: each once, in the order of discovery. */
  list(): string[]
}

export type FieldNames = Readonly<Record<string, string>>

interface WarningOptions {
  isStrict: boolean
  /** The client's names of canonical fields (`Translator.fieldNames`). */
  names?: FieldNames
}

const PLACE = Symbol('where it stands in the request')

interface Placed {
  [PLACE]?: { path: string; names: FieldNames }
}

export function createWarnings({ isStrict, names = {} }: WarningOptions): Warnings {
  const found = new Set<string>()
  const usedNames = new Map<string, string>()
  const labels = new Map<string, string>()
  let spelling: ReadonlyMap<string, string> = new Map()
  const nameOf = (field: string) => {
    const name = usedNames.get(field) ?? names[field] ?? field
    return spelling.size === 0 ? name : name.replace(/\w+/g, (word) => spelling.get(word) ?? word)
  }

  function noteChanged(field: string, change: Change) {
    const name = nameOf(field)
    if (isStrict) refuse(field, `it would be ${change}, which this request does not allow (strict mode).`)
    found.add(`${change}:${name}`)
  }

  function refuse(field: string, why: string): never {
    const param = nameOf(field)
    const label = labelOf(field)
    const message = label === undefined ? `"${param}": ${why}` : `"${param}": ${label}: ${why}`
    throw gatewayError('INVALID_REQUEST', { message, data: { param } })
  }

  /** The label of the innermost labelled path that the field is at or within. */
  function labelOf(field: string): string | undefined {
    const label = labels.get(field)
    if (label !== undefined || field === '') return label
    return labelOf(field.slice(0, Math.max(field.lastIndexOf('.'), field.lastIndexOf('['), 0)))
  }

  return {
    noteChanged,
    refuse,
    noteDropped: (field) => noteChanged(field, 'dropped'),
    useName: (field, name) => void usedNames.set(field, name),
    spell(words) {
      spelling = words
    },
    place: (part, path, fields = {}) => void Object.assign(part, { [PLACE]: { path, names: fields } }),
    label: (path, label) => void labels.set(path, label),
    pathOf,
    list: () => [...found].filter((loss) => !isWithin(loss, found)),
  }
}

function pathOf(part: object, otherwise: string, field?: string): string {
  const { [PLACE]: place }: Placed = part
  const path = place?.path ?? otherwise
  if (field === undefined) return path
  const name = place?.names[field] ?? field
  return name.startsWith('/') ? name.slice(1) : `${path}.${name}`
}

/** Is it a member of something that is dropped as a whole? */
function isWithin(loss: string, found: ReadonlySet<string>): boolean {
  if (!loss.startsWith('dropped:')) return false
  for (let at = loss.indexOf('.'); at !== -1; at = loss.indexOf('.', at + 1))
    if (found.has(loss.slice(0, at))) return true
  return false
}

/** Collects the parts of a provider's answer that the client does not get. Such a loss is never refused, since the answer is paid for. */
export interface ResponseWarnings {
  /**
   * Notes a part that is left out. `name`: the provider's name of it (`code_execution_tool_result`), or the canonical name of a part for
   * which the client's format has no place.
   */
  noteDropped(name: string): void
  /** `dropped:answer.citations`: each once, in the order of discovery. */
  list(): readonly string[]
}

export function createResponseWarnings(): ResponseWarnings {
  let found: Set<string> | undefined // most answers lose nothing
  return {
    noteDropped(name) {
      found ??= new Set()
      if (found.size < MOST) found.add(`dropped:answer.${name.slice(0, MAX_NAME)}`)
    },
    list: () => (found ? [...found] : NONE),
  }
}

/** The most names that are kept, since providers choose the names and their number. */
const MOST = 100
const MAX_NAME = 100

const NONE: readonly string[] = []

/** The format's names for a canonical field, with `.` before members; the first of several that are given counts. */
export type Synonyms = Readonly<Record<string, readonly string[]>>

/** Remembers which names the client has used, for warnings. */
export function noteNames(body: JsonObject, synonyms: Synonyms, warnings: Warnings): void {
  for (const [field, names] of Object.entries(synonyms)) {
    const name = names.find((path) => valueAt(body, path) !== undefined)
    if (name !== undefined) warnings.useName(field, name)
  }
}

const valueAt = (body: unknown, path: string): unknown =>
  path.split('.').reduce((value, name) => (isObject(value) ? (value[name] ?? undefined) : undefined), body)
