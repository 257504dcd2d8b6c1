import type { Entry } from '../group.ts'

/** Smallest figure first, equals as listed; entries without a figure last. */
export function least(entries: readonly Entry[], figureOf: (entry: Entry) => number | undefined): Entry[] {
  return entries
    .map((entry) => ({ entry, figure: figureOf(entry) ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => Number(a.figure > b.figure) - Number(a.figure < b.figure))
    .map(({ entry }) => entry)
}
