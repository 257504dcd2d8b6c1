import type { Warnings } from '../../formats/canonical/warnings.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'

/** Is it a value that an option of a vendor may have? */
type VendorOption = (value: unknown) => boolean

/** The options of a vendor that clients may set, with what their values may be. None of them is an address, a header or a path. */
export type OptionShapes = Readonly<Record<string, VendorOption>>

export const flag: VendorOption = (value) => typeof value === 'boolean'

export const word =
  (...words: readonly unknown[]): VendorOption =>
  (value) =>
    words.includes(value)

/** A whole number, both ends of its range included. */
export const count =
  (least: number, most: number): VendorOption =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most

export const line: VendorOption = (value) =>
  typeof value === 'string' && value !== '' && value.length <= MAX_LINE && !/\p{Cc}/u.test(value)

export const lines: VendorOption = (value) => Array.isArray(value) && value.length <= MAX_LINES && value.every(line)

const MAX_LINE = 500
const MAX_LINES = 50

/** The names below which a client may put the options of one vendor. */
const VENDORS: ReadonlySet<string> = new Set([
  ...['perplexity', 'perplexity-agent', 'pplx', 'tavily', 'exa', 'brave', 'serper', 'firecrawl', 'jina', 'searxng'],
])

const PATH = 'provider_options'

/**
 * The options that a client's `provider_options` have for one vendor: those below one of its names, else those below no name of a vendor. An
 * option that clients may not set is noted as dropped; throws `INVALID_REQUEST` on a value of the wrong form. `names`: of the vendor.
 */
export function vendorOptions(
  given: JsonObject | undefined,
  { names, shapes, warnings }: { names: readonly string[]; shapes: OptionShapes; warnings: Warnings },
): JsonObject {
  const chosen: JsonObject = {}

  function choose(name: string, value: unknown, path: string): void {
    if (value === null) return
    const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined
    if (!shape) warnings.noteDropped(path)
    else if (shape(value)) chosen[name] = value
    else warnings.refuse(path, 'has a value that the provider does not take.')
  }

  const own: Array<[string, JsonObject]> = []
  for (const [name, value] of Object.entries(given ?? {})) {
    if (!isObject(value) || !(VENDORS.has(name) || names.includes(name))) choose(name, value, `${PATH}.${name}`)
    else if (names.includes(name)) own.push([name, value])
  }
  for (const [vendor, options] of own)
    for (const [name, value] of Object.entries(options)) choose(name, value, `${PATH}.${vendor}.${name}`)
  return chosen
}
