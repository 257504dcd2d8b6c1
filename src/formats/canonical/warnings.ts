import { gatewayError } from '../../errors.ts'

/** What became of something that the target cannot carry as it was. */
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
  /** Remembers where in the client's request an object stands, so that a loss found later can name it. */
  place(part: object, path: string): void
  /** The path of an object that was placed, or `otherwise`. */
  pathOf(part: object, otherwise: string): string
  /** `dropped:seed`, `clamped:temperature`: each once, in the order of discovery. */
  list(): string[]
}

export interface WarningOptions {
  isStrict: boolean
  /** The client's names of canonical fields (`Translator.fieldNames`). */
  names?: Readonly<Record<string, string>>
}

export function createWarnings({ isStrict, names = {} }: WarningOptions): Warnings {
  const found = new Set<string>()
  const places = new WeakMap<object, string>()

  function changed(field: string, change: Change) {
    const name = names[field] ?? field
    if (isStrict) refuse(field, `it would be ${change}, which this request does not allow (strict mode).`)
    found.add(`${change}:${name}`)
  }

  function refuse(field: string, why: string): never {
    const param = names[field] ?? field
    throw gatewayError('INVALID_REQUEST', { message: `"${param}": ${why}`, data: { param } })
  }

  return {
    changed,
    refuse,
    dropped: (field) => changed(field, 'dropped'),
    place: (part, path) => void places.set(part, path),
    pathOf: (part, otherwise) => places.get(part) ?? otherwise,
    list: () => [...found],
  }
}
