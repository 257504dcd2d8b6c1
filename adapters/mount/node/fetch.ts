import type { PendingAnswer, UpstreamAnswer, UpstreamCall, UpstreamFetch } from '../../../src/index.ts'
import { checkOptions } from '../../lib/options.ts'
import type { Engine, EngineOptions } from './engine.ts'

/** What `createNodeFetch` takes; nothing is required. */
export type NodeFetchOptions = EngineOptions

/** A `fetch` of Node with the gateway's short way beside it. */
export interface NodeFetch extends UpstreamFetch {
  raw(call: UpstreamCall): PendingAnswer
  /** Ends all own connections, idle or not; a `dispatcher` that was given stays open. */
  close(): void
}

/**
 * Calls upstreams over undici. Called as a function it is Node's `fetch` over the same kind of connections; `raw` is what the
 * gateway uses: no Fetch objects, no time-outs of its own, redirects never followed, bodies decompressed, cut ones rejected.
 */
export function createNodeFetch(options: NodeFetchOptions = {}): NodeFetch {
  checkOptions(options, { dispatcher: true, connect: true })
  let engine: Engine | undefined
  let loading: Promise<Engine> | undefined

  const load = () => {
    loading ??= import('./engine.ts').then(({ createEngine }) => {
      engine = createEngine(options)
      return engine
    })
    return loading
  }

  const call = async (input: string, init?: RequestInit) => (await load()).fetch(input, init)
  return Object.assign(call, {
    raw: (upstreamCall: UpstreamCall) => (engine ? engine.start(upstreamCall) : startLater(load(), upstreamCall)),
    close: () => engine?.close(),
  })
}

/** A call that can be cancelled before what will carry it is loaded. */
function startLater(engine: Promise<Engine>, call: UpstreamCall): PendingAnswer {
  let started: PendingAnswer | undefined
  let cancelled: { reason: unknown } | undefined
  const start = async (): Promise<UpstreamAnswer> => {
    started = (await engine).start(call)
    if (cancelled) started.cancel(cancelled.reason)
    return started.answer
  }
  const answer = start()
  answer.catch(() => {}) // whoever has cancelled may not look any more
  return {
    answer,
    cancel(reason) {
      cancelled ??= { reason }
      started?.cancel(reason)
    },
  }
}
