/** The two parts of a request target that the gateway reads. */
export interface RequestTarget {
  /** The path as normalized by the URL parser, still percent-encoded. */
  path: string
  /** The query with its leading `?`. Empty if there is none. */
  query: string
}

/** Matches paths that every URL parser leaves unchanged: no segment is empty or starts with a dot, encoded or not. */
const PLAIN_PATH_PATTERN = /^(?:\/(?![/.])(?:[\w~!$&'()*+,=:@.-]|%(?!2[eE]))*)+$/
const PLAIN_QUERY_PATTERN = /^[\w~!$&()*+,=:@.\-%/?]*$/

/**
 * Splits a request target into the path and query that a Fetch `Request` of the same URL would have, so authorization and routing use the same
 * path. Returns `undefined` if the target isn't a path: absolute form, `*`, or a start like `//host`.
 */
export function parseTarget(target: string): RequestTarget | undefined {
  const queryStart = target.indexOf('?')
  const path = queryStart < 0 ? target : target.slice(0, queryStart)
  const query = queryStart < 0 ? '' : target.slice(queryStart)
  if (PLAIN_PATH_PATTERN.test(path) && PLAIN_QUERY_PATTERN.test(query))
    return { path, query: query === '?' ? '' : query }
  return normalize(target)
}

function normalize(target: string): RequestTarget | undefined {
  if (!target.startsWith('/')) return undefined
  const { pathname, search } = new URL(`http://localhost${target}`)
  return pathname.startsWith('//') ? undefined : { path: pathname, query: search }
}
