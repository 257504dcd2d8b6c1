import type { Exchange, Reply, UpstreamFetch } from '../../lib/exchange.ts'
import { startCall } from '../../lib/fetch-call.ts'
import { createClientScope } from '../../lib/scope.ts'
import { getCallerFormat } from '../../request/door/caller-format.ts'
import { createJsonReply } from '../../request/door/reply.ts'
import type { UnrecordedRequest } from '../../request/feature-requests.ts'
import type { ListingPath, ListingRoutesOptions } from './listing-routes.ts'

/** Replies with a list of models or a single model, in the caller's format. */
export async function replyWithList(
  { exchange, caller, params, query }: UnrecordedRequest,
  { path, kinds, version }: ListingPath,
  { listing: load, getReader, upstream, headers }: ListingRoutesOptions & { headers: Record<string, string> },
): Promise<Reply> {
  const [listing, reader] = await Promise.all([load(), getReader(caller)])
  const listFormat = listing.listFormats[getCallerFormat(path, exchange).name]
  const options = reader && { reader }
  const content = await runForClient(exchange, upstream(exchange), async (fetch) => {
    if (!kinds) {
      const foundModel = await listing.find(params.id ?? '', fetch, reader)
      return listFormat.one(foundModel.entry, foundModel.kinds)
    }
    if (version === undefined) return listFormat.list(await listing.list(kinds, fetch, options), { kinds, query })
    const lists = kinds.map(async (kind) => ({ kind, entries: await listing.list([kind], fetch, options) }))
    return listFormat.byKind?.(await Promise.all(lists), version) ?? {}
  })
  return createJsonReply(200, content, headers)
}

/** Runs `work` with a `fetch` that aborts its calls when the client disconnects. */
async function runForClient<T>(
  exchange: Pick<Exchange, 'onAbort'>,
  fetch: UpstreamFetch,
  work: (fetch: UpstreamFetch) => Promise<T>,
): Promise<T> {
  const { scope, close } = createClientScope(exchange)
  const cancellableFetch: UpstreamFetch = (input, init) => fetch(input, init)
  cancellableFetch.raw = (call) => {
    const pendingResponse = startCall(fetch, call)
    scope.add((reason) => pendingResponse.cancel(reason))
    return pendingResponse
  }
  try {
    return await work(cancellableFetch)
  } finally {
    close()
  }
}
