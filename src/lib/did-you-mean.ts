/** `Did you mean "a" or "b"?`, or `undefined` when there is nothing near to name. */
export function didYouMean(names: readonly string[]): string | undefined {
  return names.length > 0 ? `Did you mean ${names.map((name) => `"${name}"`).join(' or ')}?` : undefined
}
