import { computed, signal } from '@preact/signals'

/** The page's location, such as `#/keys/<id>?state=paused`. It is stored in the URL's fragment, which browsers don't send to servers. */
export interface PageLocation {
  /** The first path segment. Empty for the overview. */
  page: string
  /** The rest of the path, decoded. */
  id: string
  query: URLSearchParams
}

const hash = signal(location.hash)
addEventListener('hashchange', () => {
  hash.value = location.hash
})

export const route = computed<PageLocation>(() => {
  const [path = '', query = ''] = hash.value.replace(/^#\/?/, '').split('?')
  const [page = '', ...rest] = path.split('/')
  return { page, id: decode(rest.join('/')), query: new URLSearchParams(query) }
})

/** Builds the link to a view. */
export function buildLink(page: string, id = '', query: Record<string, string> = {}): string {
  const parameters = Object.entries(query).filter(([, value]) => value !== '')
  const search = new URLSearchParams(parameters).toString()
  return `#/${page}${id && `/${encodeURIComponent(id)}`}${search && `?${search}`}`
}

/** Navigates to a view. With `replace`, doesn't add a history entry; used while the user is typing in a filter. */
export function navigate(link: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, '', link)
    hash.value = link
  } else location.hash = link
}

/** Changes query parameters and removes empty ones. */
export function setQuery(change: Record<string, string>): void {
  const { page, id, query } = route.value
  navigate(buildLink(page, id, { ...Object.fromEntries(query), ...change }), { replace: true })
}

/** Binds a query parameter to a field. Changing it also sets the parameters in `otherParameters`. */
export const bindQuery = (
  name: string,
  currentValue?: string | undefined,
  otherParameters: Record<string, string> = {},
) => ({
  get value() {
    return currentValue ?? route.value.query.get(name) ?? ''
  },
  set value(newValue) {
    setQuery({ ...otherParameters, [name]: newValue })
  },
})

/** Decodes a part of a URL. Returns it unchanged if it is malformed. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
