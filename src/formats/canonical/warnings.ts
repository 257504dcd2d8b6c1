import { gatewayError } from '../../errors.ts'

/** What happened to something that the target cannot accept unchanged. */
export type Change = 'dropped' | 'clamped' | 'replaced' | 'moved' | 'added'

/**
 * Collects what a translation loses, under the client's own names for it. Strict: nothing may be lost, so that every loss is refused.
 * Fields are named by their path in the client's request (`messages[2].name`), or by their canonical name where only that is known.
 */
export interface Warnings {
  /** It is left out; the answer may be slightly worse. */
  dropped(field: string): void
  /** It is said differently: `clamped` to what the target takes, `replaced` by something near, `moved` elsewhere, `added` for the target's sake. */
  changed(field: string, change: Change): void
  /** Leaving it out would change the meaning. Throws `INVALID_REQUEST` that names the field; `data.param` has it alone. */
  refuse(field: string, why: string): never
  /** The client has said a canonical field under this name, of the several that its format knows for it. */
  said(field: string, name: string): void
  /** The client spells words of its fields in another way than the format does. */
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

export interface WarningOptions {
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
  const said = new Map<string, string>()
  const labels = new Map<string, string>()
  let spelling: ReadonlyMap<string, string> = new Map()
  const nameOf = (field: string) => {
    const name = said.get(field) ?? names[field] ?? field
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
    said: (field, name) => void said.set(field, name),
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
