/** A value that is here, or the promise of one. `await` takes both; what is here costs no promise. */
export type Awaitable<T> = T | Promise<T>

/** Is it the promise of one? Of native promises only, which all of the gateway's own are. */
export const isPromise = <T>(value: Awaitable<T>): value is Promise<T> => value instanceof Promise
