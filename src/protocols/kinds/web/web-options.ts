import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { Warnings } from '../../formats/canonical/canonical-warnings.ts'

/** Checks a vendor option's value. */
type OptionCheck = (value: unknown) => boolean

/** The vendor options that clients may set, with checks for their values. No option is a URL, a header, or a path. */
export type OptionChecks = Readonly<Record<string, OptionCheck>>

export const isBoolean: OptionCheck = (value) => typeof value === 'boolean'

export const isOneOf =
  (...values: readonly unknown[]): OptionCheck =>
  (value) =>
    values.includes(value)

/** Creates a check for an integer in a range, including both ends. */
export const isInteger =
  (min: number, max: number): OptionCheck =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max

export const isLine: OptionCheck = (value) =>
  typeof value === 'string' && value !== '' && value.length <= MAX_LINE_LENGTH && !/\p{Cc}/u.test(value)

export const isLineList: OptionCheck = (value) =>
  Array.isArray(value) && value.length <= MAX_LINES && value.every(isLine)

const MAX_LINE_LENGTH = 500
const MAX_LINES = 50

/** The names under which a client may group one vendor's options. */
const VENDOR_NAMES: ReadonlySet<string> = new Set([
  ...['perplexity', 'perplexity-agent', 'pplx', 'tavily', 'exa', 'brave', 'serper', 'firecrawl', 'jina', 'searxng'],
])

const OPTIONS_PATH = 'provider_options'

/**
 * Reads one vendor's options from a client's `provider_options`: those under the vendor's `names`, and those that aren't under any vendor's name.
 * Reports options that clients may not set as dropped. Throws `INVALID_REQUEST` if a value is invalid.
 */
export function readVendorOptions(
  clientOptions: JsonObject | undefined,
  { names, checks, warnings }: { names: readonly string[]; checks: OptionChecks; warnings: Warnings },
): JsonObject {
  const acceptedOptions: JsonObject = {}

  function acceptOption(name: string, value: unknown, path: string): void {
    if (value === null) return
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (!check) warnings.recordDrop(path)
    else if (check(value)) acceptedOptions[name] = value
    else warnings.reject(path, 'has a value that the provider does not accept.')
  }

  const optionSets: Array<[string, JsonObject]> = []
  for (const [name, value] of Object.entries(clientOptions ?? {})) {
    if (!isObject(value) || !(VENDOR_NAMES.has(name) || names.includes(name)))
      acceptOption(name, value, `${OPTIONS_PATH}.${name}`)
    else if (names.includes(name)) optionSets.push([name, value])
  }
  for (const [vendor, options] of optionSets)
    for (const [name, value] of Object.entries(options)) acceptOption(name, value, `${OPTIONS_PATH}.${vendor}.${name}`)
  return acceptedOptions
}
