import { decodeUtf8Lenient } from '../../lib/bytes.ts'
import { type Exchange, isByteStream, type Reply } from '../../lib/exchange.ts'
import { InternalExchange } from '../../lib/internal-exchange.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'

interface CallerTerms {
  basePath: string
  serve(exchange: Exchange): Promise<Reply | undefined>
  /** The client's request. */
  outer: Pick<Exchange, 'waitUntil' | 'upstream'>
}

/** Creates the function that guards call models with. */
export function createModelCaller({ basePath, serve, outer }: CallerTerms) {
  return async (path: string, body: JsonObject, signal: AbortSignal): Promise<JsonObject> => {
    const exchange = new InternalExchange({
      ...{ path: basePath + path, body, headers: new Map(), actsAs: {} },
      outer: {
        onAbort(listener) {
          if (signal.aborted) listener()
          signal.addEventListener('abort', listener, { once: true })
          return () => signal.removeEventListener('abort', listener)
        },
        ...(outer.waitUntil && { waitUntil: outer.waitUntil.bind(outer) }),
        ...(outer.upstream && { upstream: outer.upstream }),
      },
    })
    const reply = await serve(exchange)
    const { status = 404, body: answer = '' } = reply ?? {}
    if (isByteStream(answer)) {
      answer.cancel()
      throw new TypeError(`${path} returned a stream. Send "stream": false.`)
    }
    const json = tryParseJson(typeof answer === 'string' ? answer : decodeUtf8Lenient(answer))
    if (status !== 200 || !isObject(json)) throw new Error(`${path} returned status ${status}.`)
    return json
  }
}
