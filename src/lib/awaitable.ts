/** A value, or the promise of one. Where the value is there already, no promise is made for it. */
export type Awaitable<T> = T | Promise<T>

/** Is it a native promise? All promises of the gateway are. */
export const isPromise = <T>(value: Awaitable<T>): value is Promise<T> => value instanceof Promise
