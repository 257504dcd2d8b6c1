/** Throws a TypeError that shows how to call `caller` if `gateway` isn't a gateway. */
export function checkGateway(caller: string, gateway: unknown, needs: 'exchange' | 'fetch'): void {
  const isAny = (typeof gateway === 'object' && gateway !== null) || typeof gateway === 'function'
  if (!isAny || typeof Reflect.get(gateway, needs) !== 'function')
    throw new TypeError(`${caller} takes a gateway as its first argument: ${caller}(createGateway({ storage })).`)
}
