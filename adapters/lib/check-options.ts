/** Throws a TypeError with the first option that isn't in `knownOptions`, like `createGateway`. */
export function checkOptions<Options extends object>(
  options: Options,
  knownOptions: Record<keyof Options, true>,
): void {
  if (typeof options !== 'object' || options === null) throw new TypeError('The options must be an object.')
  for (const name of Object.keys(options))
    if (!Object.hasOwn(knownOptions, name))
      throw new TypeError(`${name} is not an option. Known: ${Object.keys(knownOptions).join(', ')}.`)
}
