import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'

/** What happened to something that the target cannot accept unchanged. */
export type Change = 'dropped' | 'clamped' | 'replaced' | 'moved' | 'added'

/**
 * Collects what a translation loses, under the client's own names for it. Strict: nothing may be lost, so that every loss is refused.
 * Fields are named by their path in the client's request (`messages[2].name`), or by their canonical name where only that is known.
 */
export interface Warnings {
  /** It is left out; the answer may be slightly worse. */
  dropped(field: string): void
  /** It is changed: `clamped` to what the target takes, `replaced` by something near, `moved` elsewhere, `added` for the target's sake. */
  changed(field: string, change: Change): void
  /** Leaving it out would change the meaning. Throws `INVALID_REQUEST` that names the field; `data.param` has it alone. */
  refuse(field: string, why: string): never
  /** The client has used this name for a canonical field, of the several that its format has for it. */
  useName(field: string, name: string): void
  /** How the client spells words in the names of fields, by the spelling of the format. */
  spell(words: ReadonlyMap<string, string>): void
  /**
   * Remembers where in the client's request an object stands, so that a loss found later can name it. Copies by spread remember it, too.
   * `names`: what the client calls the fields of the object that it has under other names; with a slash before it, a path of its own.
   */
  place(part: object, path: string, names?: FieldNames): void
  /** Labels a path with what is there, such as `tool "f"`: refusals of the path and of fields below it contain the label. */
  label(path: string, label: string): void
  /** The path of an object that was placed, or of one of its fields; else `otherwise`, and what it is called here. */
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

  function changed(field: string, change: Change) {
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
    changed,
    refuse,
    dropped: (field) => changed(field, 'dropped'),
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

/** Collects what of a provider's answer its client does not get. An answer is paid for, so that no loss of it is ever refused. */
export interface ResponseWarnings {
  /** `name`: what the provider calls it (`code_execution_tool_result`), or, of what the client's format has no place for, what it is. */
  dropped(name: string): void
  /** `dropped:answer.citations`: each once, in the order of discovery. */
  list(): readonly string[]
}

export function createResponseWarnings(): ResponseWarnings {
  let found: Set<string> | undefined // most answers lose nothing
  return {
    dropped(name) {
      found ??= new Set()
      if (found.size < MOST) found.add(`dropped:answer.${name.slice(0, MAX_NAME)}`)
    },
    list: () => (found ? [...found] : NONE),
  }
}

/** Providers choose the names, and how many there are. */
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
