/** Throws a TypeError that names the first option that is not `known`, as `createGateway` does with its own. */
export function checkOptions<Options extends object>(options: Options, known: Record<keyof Options, true>): void {
  if (typeof options !== 'object' || options === null) throw new TypeError('The options must be an object.')
  for (const name of Object.keys(options))
    if (!Object.hasOwn(known, name))
      throw new TypeError(`${name} is no option. Known: ${Object.keys(known).join(', ')}.`)
}

/** Throws a TypeError that shows how `caller` is called when it was not given a gateway. */
export function checkGateway(caller: string, gateway: unknown, needs: 'exchange' | 'fetch'): void {
  const isAny = (typeof gateway === 'object' && gateway !== null) || typeof gateway === 'function'
  if (!isAny || typeof Reflect.get(gateway, needs) !== 'function')
    throw new TypeError(`${caller} takes a gateway first: ${caller}(createGateway({ storage })).`)
}
