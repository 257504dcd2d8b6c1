import { decodeUtf8Lenient } from '../../lib/bytes.ts'
import { type Exchange, isByteStream, type Reply } from '../../lib/exchange.ts'
import { InternalExchange } from '../../lib/internal-exchange.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { RequestEvents } from '../../request/request-events.ts'

interface ModelCallOptions {
  basePath: string
  serve(exchange: Exchange): Promise<Reply | undefined>
  /** The client's request. */
  clientExchange: Pick<Exchange, 'waitUntil' | 'upstream'>
  events?: Pick<RequestEvents, 'add'>
  /** Called with the cost of each call, if known. */
  onCost?(usd: number): void
}

/** Creates the function that guards use to call models. */
export function createModelCaller({ basePath, serve, clientExchange, events, onCost }: ModelCallOptions) {
  return async (path: string, body: JsonObject, signal: AbortSignal): Promise<JsonObject> => {
    const exchange = new InternalExchange({
      ...{ path: basePath + path, body, headers: new Map(), actsAs: {} },
      outerExchange: {
        onAbort(listener) {
          if (signal.aborted) listener()
          signal.addEventListener('abort', listener, { once: true })
          return () => signal.removeEventListener('abort', listener)
        },
        ...(clientExchange.waitUntil && { waitUntil: clientExchange.waitUntil.bind(clientExchange) }),
        ...(clientExchange.upstream && { upstream: clientExchange.upstream }),
      },
    })
    const stopListening = events?.add({
      arrived(arrivedExchange, request) {
        if (arrivedExchange === exchange) request.onEnd(({ costUsd }) => costUsd !== undefined && onCost?.(costUsd))
      },
    })
    const reply = await serve(exchange).finally(stopListening)
    const { status = 404, body: responseBody = '' } = reply ?? {}
    if (isByteStream(responseBody)) {
      responseBody.cancel()
      throw new TypeError(`${path} returned a stream. Send "stream": false.`)
    }
    const json = tryParseJson(typeof responseBody === 'string' ? responseBody : decodeUtf8Lenient(responseBody))
    if (status !== 200 || !isObject(json)) throw new Error(`${path} returned status ${status}.`)
    return json
  }
}
