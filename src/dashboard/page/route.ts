import { computed, signal } from '@preact/signals'

/** Where the page is: `#/keys/<id>?state=paused`. It is kept in the fragment, which no server sees. */
export interface PageAddress {
  /** The first part of the path; empty for the overview. */
  page: string
  /** The rest of it, decoded. */
  id: string
  query: URLSearchParams
}

const hash = signal(location.hash)
addEventListener('hashchange', () => {
  hash.value = location.hash
})

export const route = computed<PageAddress>(() => {
  const [path = '', query = ''] = hash.value.replace(/^#\/?/, '').split('?')
  const [page = '', ...rest] = path.split('/')
  return { page, id: decoded(rest.join('/')), query: new URLSearchParams(query) }
})

/** The address of a view. */
export function linkTo(page: string, id = '', query: Record<string, string> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const search = new URLSearchParams(given).toString()
  return `#/${page}${id && `/${encodeURIComponent(id)}`}${search && `?${search}`}`
}

/** Goes to a view. `replace`: without an entry in the history, as for each letter of a filter. */
export function go(link: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, '', link)
    hash.value = link
  } else location.hash = link
}

/** Changes parameters of the query; an empty one is removed. */
export function setQuery(change: Record<string, string>): void {
  const { page, id, query } = route.value
  go(linkTo(page, id, { ...Object.fromEntries(query), ...change }), { replace: true })
}

/** A parameter of the query as a field takes it. */
export const inQuery = (
  name: string,
  value = route.value.query.get(name) ?? '',
  others: Record<string, string> = {},
) => ({
  get value() {
    return value
  },
  /** The `others` change with it. */
  set value(changed) {
    setQuery({ ...others, [name]: changed })
  },
})

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
