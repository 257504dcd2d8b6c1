/** Options and fields that were renamed before 0.1.0, by their former names. */
const currentNames: Readonly<Record<string, string>> = {
  maxConcurrent: 'maxParallelRequests',
  silenceTimeoutMs: 'idleTimeoutMs',
  maxAnswerBytes: 'maxResponseBytes',
  askForUsage: 'includeStreamUsage',
  enrolment: 'enrollmentToken',
  unpriced: 'whenPriceUnknown',
  whenStoreIsAway: 'onStorageUnavailable',
  requestModels: 'allowRequestModels',
}

/** Returns the current name of a renamed option or field, if it is one of `names`. */
export function toCurrentName(name: string, names: readonly string[]): string | undefined {
  const currentName = Object.hasOwn(currentNames, name) ? currentNames[name] : undefined
  return currentName !== undefined && names.includes(currentName) ? currentName : undefined
}

/** Like `toCurrentName`, for CLI options: `when-price-unknown`, `no-allow-request-models`. */
export function toCurrentFlag(flag: string, names: readonly string[]): string | undefined {
  const [, prefix = '', flagName = ''] = /^(no-)?(.*)$/.exec(flag) ?? []
  const currentName = Object.entries(currentNames).find(([oldName]) => toFlag(oldName) === flagName)?.[1]
  const currentFlag = currentName === undefined ? undefined : prefix + toFlag(currentName)
  return currentFlag !== undefined && names.includes(currentFlag) ? currentFlag : undefined
}

/** Converts a field name to a CLI option name: `when-price-unknown`. */
export const toFlag = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Throws a TypeError with the first option that isn't in `names`; `path`, such as `limits.`, precedes its name. */
export function rejectUnknownOptions(options: object, names: readonly string[], path = ''): void {
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue
    const currentName = toCurrentName(name, names)
    throw new TypeError(
      currentName === undefined
        ? `${path}${name} is not an option. Known: ${names.join(', ')}.`
        : `${path}${name} was renamed. Use ${path}${currentName}.`,
    )
  }
}
