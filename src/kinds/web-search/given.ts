import { isObject } from '../../lib/json.ts'
import type { Division, Used } from '../forms.ts'
import { type PageFormat, sumOfCharges, type VendorCharge } from '../web/answers.ts'
import { amountIn, dateIn, plainText, wordsIn } from '../web/text.ts'
import type { WebSearch } from './search.ts'

/** What a vendor has found. */
export interface SearchResults extends Used {
  /** The vendor's id of the search. */
  id?: string | undefined
  results: readonly Result[]
  /** The form of whole pages, where it is not the one that was asked for. */
  pageFormat?: PageFormat | undefined
  spent: VendorCharge
  serverTime?: string | undefined
}

export interface Result {
  title: string
  url: string
  snippet: string
  /** ISO 8601: of its publication, and of its last change. */
  date?: string | undefined
  lastUpdated?: string | undefined
  score?: number | undefined
  /** The whole text of the page. */
  content?: string | undefined
  author?: string | undefined
  image?: string | undefined
  favicon?: string | undefined
}

/** The vendor's names of the members of its results; the first of several that has a value counts. */
export interface ResultNames {
  title?: readonly string[]
  url?: readonly string[]
  snippet: readonly string[]
  date?: readonly string[]
  lastUpdated?: readonly string[]
  content?: readonly string[]
  image?: readonly string[]
}

/** The results in a vendor's list; those without an address are no results. `now`: epoch ms, for dates such as `3 days ago`. */
export function resultsIn(list: readonly unknown[], names: ResultNames, now: number): Result[] {
  return list.filter(isObject).flatMap((item) => {
    const textOf = (all: readonly string[] = []) => all.map((name) => wordsIn(item[name])).find(Boolean)
    const url = textOf(names.url ?? ['url'])
    if (url === undefined) return []
    return [
      {
        title: plainText(textOf(names.title ?? ['title'])),
        url,
        snippet: plainText(textOf(names.snippet)),
        date: dateIn(textOf(names.date), now),
        lastUpdated: dateIn(textOf(names.lastUpdated), now),
        score: amountIn(item.score),
        content: textOf(names.content),
        author: textOf(['author']),
        image: textOf(names.image),
        favicon: textOf(['favicon']),
      },
    ]
  })
}

/** A query to each call, for vendors that take one. */
export const byQuery: Division<WebSearch, SearchResults> = {
  sizeOf: ({ queries }) => queries.length,
  slice: (search, start, end) => ({ ...search, queries: search.queries.slice(start, end) }),
  join(given) {
    const longest = Math.max(...given.map(({ results }) => results.length))
    const inTurn = Array.from({ length: longest }, (_, rank) => given.flatMap(({ results }) => results[rank] ?? []))
    return {
      id: given[0]?.id,
      results: inTurn.flat(),
      pageFormat: given[0]?.pageFormat,
      spent: sumOfCharges(given.map(({ spent }) => spent)),
    }
  },
}
