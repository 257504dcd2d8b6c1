/** Ends a `switch` over a union, so a missing case is a compile error. Throws for a value that the types exclude, without quoting it. */
export function assertNever(_: never): never {
  throw new TypeError('A value has a type or a name that the code does not handle.')
}
