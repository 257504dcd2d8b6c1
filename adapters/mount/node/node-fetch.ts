import type { PendingResponse, UpstreamCall, UpstreamFetch, UpstreamResponse } from '../../../src/index.ts'
import { checkOptions } from '../../lib/check-options.ts'
import type { Engine, EngineOptions } from './node-engine.ts'

/** Options for `createNodeFetch`; all are optional. */
export type NodeFetchOptions = EngineOptions

/** Node's `fetch`, plus `raw`, which creates no Fetch objects. */
export interface NodeFetch extends UpstreamFetch {
  raw(call: UpstreamCall): PendingResponse
  /** Closes the connections that it created, idle or not. A `dispatcher` that you passed stays open. */
  close(): void
}

/**
 * Creates a function that calls providers with undici. Called directly, it works like Node's `fetch`, but uses the same kind of connections. The
 * gateway uses `raw`, which creates no Fetch objects, has no timeouts, doesn't follow redirects, and decompresses bodies. Reading a body rejects if
 * the body is cut off.
 */
export function createNodeFetch(options: NodeFetchOptions = {}): NodeFetch {
  checkOptions(options, { dispatcher: true, connect: true })
  let engine: Engine | undefined
  let loading: Promise<Engine> | undefined

  async function open() {
    const { createEngine } = await import('./node-engine.ts')
    engine = await createEngine(options)
    return engine
  }

  const load = () => {
    loading ??= open()
    return loading
  }

  const call = async (input: string, init?: RequestInit) => (await load()).fetch(input, init)
  return Object.assign(call, {
    raw: (upstreamCall: UpstreamCall) => (engine ? engine.start(upstreamCall) : startWhenLoaded(load(), upstreamCall)),
    close: () => engine?.close(),
  })
}

/** Starts a call that can be canceled before the engine has loaded. */
function startWhenLoaded(engine: Promise<Engine>, call: UpstreamCall): PendingResponse {
  let pending: PendingResponse | undefined
  let cancelled: { reason: unknown } | undefined
  const start = async (): Promise<UpstreamResponse> => {
    pending = (await engine).start(call)
    if (cancelled) pending.cancel(cancelled.reason)
    return pending.response
  }
  const response = start()
  response.catch(() => {}) // after a cancellation, the caller may not handle the rejection
  return {
    response,
    cancel(reason) {
      cancelled ??= { reason }
      pending?.cancel(reason)
    },
  }
}
