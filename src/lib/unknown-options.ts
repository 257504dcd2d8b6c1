/** Throws a TypeError naming the first option that is not in `known`; `path` is put before its name, such as `limits.`. */
export function refuseUnknownOptions(options: object, known: readonly string[], path = ''): void {
  for (const name of Object.keys(options))
    if (!known.includes(name)) throw new TypeError(`${path}${name} is not an option. Known: ${known.join(', ')}.`)
}
