/** Ends a `switch` over a union: a member without a case fails the compiler here. Throws on a value that the types exclude, and does not quote it. */
export function assertNever(_: never): never {
  throw new TypeError('A value has a type or a name that the code does not know.')
}
