import * as v from 'valibot'
import { gatewayError } from '../../errors.ts'
import type { Exchange, Reply } from '../../lib/exchange.ts'
import { InternalExchange } from '../../lib/internal-exchange.ts'
import type { JsonObject } from '../../lib/json.ts'
import { endpoints } from '../../protocols/kinds/kinds.ts'
import type { Store } from '../../records/store.ts'
import type { HttpRoute } from '../../request/door/router.ts'
import type { Authenticator } from '../../request/identity.ts'
import { anyObject, closedObject, createInputError, fields, parseInput, rejectArray } from '../input.ts'
import { findRecord, requirePresent } from '../record-operations.ts'

/** The path where callers of the management API send model requests. It isn't an operation, because its response can be a stream. */
export const TRY_PATH = '/api/try'

const HEADERS_MESSAGE = 'must be an object that maps header names to strings'

export const tryInput = closedObject({
  path: fields.text,
  body: anyObject('must be an object (the request body)'),
  headers: v.exactOptional(
    v.pipe(rejectArray(HEADERS_MESSAGE), v.record(v.string(), v.string('must be a string'), HEADERS_MESSAGE)),
  ),
  asKey: v.exactOptional(fields.text),
  asAccount: v.exactOptional(fields.text),
})

/**
 * Creates the route that sends a model request and returns the response with its headers. The request acts as the key with the given ID, or as the
 * account with the given ID or ref, with its limits and allowed models. By default, it acts as the operator, who needs no key and only has the
 * gateway's limits.
 */
export const createTryRoute = ({
  store,
  accounts,
  readBody,
  basePath,
  serve,
}: {
  store: Pick<Store, 'keys'>
  accounts(): Promise<StoredAccounts>
  /** Reads a JSON body, within limits. */
  readBody(exchange: Exchange): Promise<JsonObject>
  basePath: string
  serve(exchange: Exchange, authenticator?: Authenticator): Promise<Reply | undefined>
}): HttpRoute => ({
  method: 'POST',
  path: TRY_PATH,
  async run({ exchange }) {
    const { path, body, headers = {}, asKey, asAccount } = parseInput(tryInput, await readBody(exchange))
    if (asKey !== undefined && asAccount !== undefined)
      throw createInputError('"asAccount" cannot be combined with "asKey"')
    const { pathname, search } = parseEndpoint(path)
    const key = asKey === undefined ? undefined : await findRecord(store.keys, 'Key', ({ id }) => id === asKey)
    const reply = await serve(
      new InternalExchange({
        path: basePath + pathname,
        query: search,
        body,
        headers: toHeaders(headers),
        actsAs: key ? { keyDigest: key.id } : {},
        outerExchange: exchange,
      }),
      asAccount === undefined ? undefined : await createAuthenticator(asAccount, await accounts()),
    )
    if (!reply) throw gatewayError('NOT_FOUND', { message: `POST ${pathname} does not exist here.` })
    return reply
  },
})

/** The account lookups that this route needs. */
interface StoredAccounts {
  refs: { resolve(idOrRef: string): Promise<string> }
  cache: { find(ref: string): Promise<{ id: string } | undefined> }
}

/** Returns an authenticator for the account with this ID or ref. Rejects with `NOT_FOUND` if the account isn't stored. */
async function createAuthenticator(idOrRef: string, { refs, cache }: StoredAccounts): Promise<Authenticator> {
  const { id: account } = requirePresent(await cache.find(await refs.resolve(idOrRef)), 'Account')
  return { identify: () => ({ account }) }
}

/** Splits a model endpoint's URL into path and query. Throws `INVALID_REQUEST` for any other path. */
function parseEndpoint(path: string): { pathname: string; search: string } {
  const url =
    /^\/[^/\\]/.test(path) && URL.canParse(path, 'http://gateway') ? new URL(path, 'http://gateway') : undefined
  const isModelPath =
    url && (/^\/v1(?:beta)?\/./.test(url.pathname) || endpoints.some((endpoint) => endpoint.path === url.pathname))
  if (!isModelPath)
    throw createInputError('"path" must be the path of a model endpoint, such as "/v1/chat/completions"')
  return { pathname: url.pathname, search: url.search }
}

function toHeaders(headers: Record<string, string>): Map<string, string> {
  try {
    return new Map(new Headers(headers)) // `Headers` validates headers and lowercases their names
  } catch {
    throw createInputError('"headers" must contain only valid header names and values')
  }
}
