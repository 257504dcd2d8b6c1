import * as v from 'valibot'
import { gatewayError } from '../errors.ts'
import { endpoints } from '../kinds/kinds.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import type { JsonObject } from '../lib/json.ts'
import { MadeExchange } from '../lib/made-exchange.ts'
import { anyObject, closed, fields, invalidInput, noList, parseInput } from '../management/input.ts'
import { findRecord } from '../management/records.ts'
import type { Store } from '../store/store.ts'
import type { HttpRoute } from './router.ts'

/** The path at which callers of the management API make model requests. It is no management operation, since its response may be a stream. */
export const TRY = '/api/try'

const HEADERS = 'must be an object of texts by header name'

export const tryInput = closed({
  path: fields.text,
  body: anyObject('must be an object: the body of the request'),
  headers: v.exactOptional(v.pipe(noList(HEADERS), v.record(v.string(), v.string('must be text'), HEADERS))),
  asKey: v.exactOptional(fields.text),
})

/**
 * The route that makes a model request and answers as the gateway does, with its headers. The request acts as the key with the given id, whose limits
 * and models apply, or as the operator, who needs no key and to whom the limits of the gateway apply.
 */
export const tryRoute = ({
  store,
  readBody,
  basePath,
  serve,
}: {
  store: Pick<Store, 'keys'>
  /** Reads a body of JSON, within limits. */
  readBody(exchange: Exchange): Promise<JsonObject>
  basePath: string
  serve(exchange: Exchange): Promise<Reply | undefined>
}): HttpRoute => ({
  method: 'POST',
  path: TRY,
  async run({ exchange }) {
    const { path, body, headers = {}, asKey } = parseInput(tryInput, await readBody(exchange))
    const { pathname, search } = endpointAt(path)
    const key = asKey === undefined ? undefined : await findRecord(store.keys, 'Key', ({ id }) => id === asKey)
    const reply = await serve(
      new MadeExchange({
        path: basePath + pathname,
        query: search,
        body,
        headers: headersOf(headers),
        actsAs: key ? { keyDigest: key.id } : {},
        outer: exchange,
      }),
    )
    if (!reply) throw gatewayError('NOT_FOUND', { message: `There is no POST ${pathname} here.` })
    return reply
  },
})

/** The path and the query of a model endpoint. Throws `INVALID_REQUEST` for any other path. */
function endpointAt(path: string): { pathname: string; search: string } {
  const url =
    /^\/[^/\\]/.test(path) && URL.canParse(path, 'http://gateway') ? new URL(path, 'http://gateway') : undefined
  const isModelPath =
    url && (/^\/v1(?:beta)?\/./.test(url.pathname) || endpoints.some((endpoint) => endpoint.path === url.pathname))
  if (!isModelPath) throw invalidInput('"path" must be the path of a model endpoint, such as "/v1/chat/completions"')
  return { pathname: url.pathname, search: url.search }
}

function headersOf(given: Record<string, string>): Map<string, string> {
  try {
    return new Map(new Headers(given)) // which checks them, and has their names in lower case
  } catch {
    throw invalidInput('"headers" must have names and values that a header can carry')
  }
}
